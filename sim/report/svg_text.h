// How are words written into pictures and pages, and how much room do they take?
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Text as XML content or attribute; control characters, which XML cannot hold, become spaces.
std::string escape_xml(std::string_view text);

/// Pixels that a sans-serif font of `size` pixels takes at most for ordinary text. Fonts differ: on
/// the safe side.
double text_width(std::string_view text, double size);

/// Lines no wider than `width` pixels, broken at spaces, or within a word that is wider alone.
std::vector<std::string> wrap_text(std::string_view text, double size, double width);

}  // namespace sluice

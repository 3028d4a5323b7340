// How do pictures become SVG, and how do pages of HTML hold text and pictures?
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/report/colours.h"
#include "sim/report/picture.h"

namespace sluice {

/// An <svg> element, which is a file, too. It needs no other file, and neither patterns nor styles.
std::string to_svg(const Picture& picture, const Colours& colours = light_colours());

/// Text as XML content or attribute; control characters, which XML cannot hold, become spaces.
std::string escape_xml(std::string_view text);
/// `<p>` and the like around escaped text, on a line of its own.
std::string html_element(std::string_view tag, std::string_view text,
                         std::string_view css_class = "");
/// `<ul>` of escaped texts; nothing where there are none.
std::string html_list(const std::vector<std::string>& texts);

/// A whole page, well-formed as XML too. It loads nothing: its policy forbids that. `title` is
/// escaped here, `style` and `body` are taken as they are.
std::string html_page(std::string_view title, std::string_view style, std::string_view body);

/// Rules for tables and pictures in black on white.
std::string_view html_table_style();

}  // namespace sluice

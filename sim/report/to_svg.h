// How do pictures become SVG, and how are HTML pages put together from text and pictures?
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/colours.h"
#include "sim/report/picture.h"

namespace sluice {

/// An <svg> element, which is also a complete file. It refers to no other file and uses neither
/// patterns nor styles.
std::string to_svg(const Picture& picture, const Colours& colours = light_colours());

/// Text as XML content or attribute; control characters, which XML cannot hold, become spaces.
std::string escape_xml(std::string_view text);
/// An element such as `<p>` around escaped text, on its own line.
std::string html_element(std::string_view tag, std::string_view text,
                         std::string_view css_class = "");
/// `<ul>` of escaped texts; empty if there are none.
std::string html_list(const std::vector<std::string>& texts);

/// A whole page, also well-formed as XML. Its security policy forbids loading anything. `title` is
/// escaped here, `style` and `body` are used unchanged. Browsers load it again after
/// `refresh_seconds`.
std::string html_page(std::string_view title, std::string_view style, std::string_view body,
                      std::optional<int> refresh_seconds = std::nullopt);

/// Style rules for tables and pictures in black on white.
std::string_view html_table_style();

}  // namespace sluice

// How does a chart collect its SVG elements?
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>

#include "sim/report/svg_text.h"

namespace sluice {

/// Coordinates are pixels.
class SvgCanvas {
  public:
    template <typename... Arguments>
    void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(body_), format, std::forward<Arguments>(arguments)...);
    }
    void text(double x, double y, double size, std::string_view words,
              std::string_view attributes = "") {
        add("<text x=\"{:.6g}\" y=\"{:.6g}\" font-size=\"{}\" {}>{}</text>\n", x, y, size,
            attributes, escape_xml(words));
    }
    void line(double x1, double y1, double x2, double y2, std::string_view attributes) {
        add("<path d=\"M{:.6g} {:.6g}L{:.6g} {:.6g}\" {}/>\n", x1, y1, x2, y2, attributes);
    }
    /// The whole element, on white.
    std::string element(double width, double height) const {
        return fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.6g}\" height=\"{1:.6g}\" "
            "viewBox=\"0 0 {0:.6g} {1:.6g}\" font-family=\"sans-serif\">\n<rect width=\"{0:.6g}\" "
            "height=\"{1:.6g}\" fill=\"#fff\"/>\n{2}</svg>\n",
            width, height, body_);
    }

  private:
    std::string body_;
};

}  // namespace sluice

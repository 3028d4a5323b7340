// Which parts do charts share: axes with ticks, titles, legends, labels that do not overlap?
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/report/picture.h"

namespace sluice {

/// The smallest step of 1, 2 or 5 times a power of ten of which at most `most` fit into `length`.
/// Precondition: both > 0, in the same unit.
double round_tick(double length, int most);

struct Axis {
    double low = 0, high = 1;  ///< values at the ends
    bool logarithmic = false;
    std::vector<double> ticks;  ///< round values in [low, high], ascending

    /// 0 at low, 1 at high; 0.5 if both are equal.
    double share(double value) const;
};
/// At most `most` + 1 ticks; precondition: high > low.
Axis linear_axis(double low, double high, int most);
/// At least one tick; precondition: high > low > 0.
Axis logarithmic_axis(double low, double high);
/// An axis with room at both ends, so that no point lies on the frame. Precondition: at least one
/// value, all above 0.
Axis logarithmic_axis_around(const std::vector<double>& values);
/// An axis for points with names: from 0, with room above the largest value; logarithmic if
/// positive values differ more than tenfold. Without values: 0 to 1, without ticks.
Axis axis_for_points(const std::vector<double>& values, int most);
/// An axis for colours: from the smallest to the largest value, which are the ticks if no round
/// values lie between; logarithmic as above. Without values: no ticks.
Axis axis_between(const std::vector<double>& values, int most);

using TickLabel = std::function<std::string(double)>;
/// Vertical lines across the plot with labels below it; labels that would touch are left out.
void add_horizontal_axis(Picture& picture, const Box& plot, const Axis& axis,
                         const TickLabel& label, double font);
/// Horizontal lines across the plot with labels at its left; labels that would touch are left out.
void add_vertical_axis(Picture& picture, const Box& plot, const Axis& axis, const TickLabel& label,
                       double font);
double widest_label(const Axis& axis, const TickLabel& label, double font);

inline double line_height(double font) { return 1.4 * font; }
/// Splits text into lines of at most `most` bytes, at spaces, or within a word that is longer.
std::vector<std::string> wrap_text(std::string_view text, std::size_t most);
/// Splits text into lines of at most `width` pixels, at spaces, or within a word that is wider.
std::vector<std::string> wrap_text(std::string_view text, double size, double width);
/// Draws wrapped text; returns the y of the next line.
double add_paragraph(Picture& picture, Point top_left, double width, std::string_view words,
                     double font, Paint colour = paint(Role::text), bool bold = false);
/// Draws a bold title and a subtitle, which also describe the chart to screen readers; returns the
/// y where the chart begins.
double add_header(Picture& picture, std::string_view title, std::string_view subtitle, double font);
/// Text of that height in the middle of a row, without a halo.
inline double baseline(double middle, double font) { return middle + 0.35 * font; }

struct LegendEntry {
    enum class Mark : std::uint8_t { square, disc, hatched };
    std::string name;
    Paint colour;
    Mark mark = Mark::square;
};
/// Uses as many lines as `width` requires; returns the y of its end.
double add_legend(Picture& picture, const std::vector<LegendEntry>& entries, Point top_left,
                  double width, double font);

struct LabelledPoint {
    Point point;
    double width = 0, height = 0;  ///< size of the name
    double folded_width = 0,
           folded_height = 0;  ///< size of the name in two lines; 0: it stays in one
    /// Over lines if no position is free of them, above the point if other names or dots are there.
    bool must_be_named = false;
};
using Line = std::pair<Point, Point>;
/// One box next to each point for its name, placed in the order of the points. A name that finds no
/// room is tried folded; without room for that it has no box. All boxes lie within `plot`. Each is
/// nearest to its own dot and touches no other box, dot of `radius` or line.
std::vector<std::optional<Box>> label_places(const std::vector<LabelledPoint>& points,
                                             const Box& plot, double radius,
                                             const std::vector<Point>& dots,
                                             const std::vector<Line>& lines = {});

struct NamedPoint {
    Point point;
    std::string name, second = {};  ///< "h100-sxm-pcie5", "streamed": in one line or in two
    Paint ink = paint(Role::text);
    bool must_be_named = false;
};
/// Draws the names of points at label_places().
void add_names(Picture& picture, const std::vector<NamedPoint>& points, const Box& plot,
               double radius, const std::vector<Point>& dots, const std::vector<Line>& lines,
               double font);

}  // namespace sluice

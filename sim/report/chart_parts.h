// What do charts share: axes with their ticks, titles, legends, and names that cover nothing?
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/report/picture.h"

namespace sluice {

/// 1, 2 or 5 times a power of ten, so that at most `most` of it fit into `length` (both > 0, in one
/// unit).
double round_tick(double length, int most);

struct Axis {
    double low = 0, high = 1;  ///< values at the ends
    bool logarithmic = false;
    std::vector<double> ticks;  ///< round values in [low, high], ascending

    /// 0 at low, 1 at high; 0.5 where both are the same.
    double share(double value) const;
};
/// At most `most` + 1 ticks; precondition: high > low.
Axis linear_axis(double low, double high, int most);
/// At least one tick; precondition: high > low > 0.
Axis logarithmic_axis(double low, double high);
/// With room beyond both ends, so that no point lies on the frame. Precondition: values above 0, at
/// least one.
Axis logarithmic_axis_around(const std::vector<double>& values);
/// For points with names: from 0 with some room above the largest value; logarithmic where values
/// above 0 differ more than tenfold. Without values from 0 to 1, and no ticks.
Axis axis_for_points(const std::vector<double>& values, int most);
/// For colours: from the least to the largest value, which are the ticks where no round ones lie
/// between; logarithmic as above. Without values no ticks.
Axis axis_between(const std::vector<double>& values, int most);

using TickLabel = std::function<std::string(double)>;
/// Lines across the plot with labels below it; labels that would touch are left out.
void add_horizontal_axis(Picture& picture, const Box& plot, const Axis& axis,
                         const TickLabel& label, double font);
/// Lines across the plot with labels at its left; labels that would touch are left out.
void add_vertical_axis(Picture& picture, const Box& plot, const Axis& axis, const TickLabel& label,
                       double font);
/// The width of the widest label.
double widest_label(const Axis& axis, const TickLabel& label, double font);

/// Height of a line of text.
inline double line_height(double font) { return 1.4 * font; }
/// Lines of at most `most` bytes, broken at spaces, or within a word that is longer alone.
std::vector<std::string> wrap_text(std::string_view text, std::size_t most);
/// Lines no wider than `width` pixels, broken at spaces, or within a word that is wider alone.
std::vector<std::string> wrap_text(std::string_view text, double size, double width);
/// Wraps words into `width`; returns where the next line begins.
double add_paragraph(Picture& picture, Point top_left, double width, std::string_view words,
                     double font, Paint colour = paint(Role::text), bool bold = false);
/// A bold title and what is below it across the picture, which also say the chart to people who do
/// not see it; returns where the chart begins.
double add_header(Picture& picture, std::string_view title, std::string_view subtitle, double font);
/// Words of that height in the middle of a row, without a halo.
inline double baseline(double middle, double font) { return middle + 0.35 * font; }

struct LegendEntry {
    enum class Mark : std::uint8_t { square, disc, hatched };
    std::string name;
    Paint colour;
    Mark mark = Mark::square;
};
/// In as many lines as `width` needs; returns where they end.
double add_legend(Picture& picture, const std::vector<LegendEntry>& entries, Point top_left,
                  double width, double font);

struct LabelledPoint {
    Point point;
    double width = 0, height = 0;                ///< of its name
    double folded_width = 0, folded_height = 0;  ///< of its name in two lines; 0: it stays in one
    bool must_be_named = false;                  ///< above the point where no place is free
};
using Line = std::pair<Point, Point>;
/// A box beside each point, for the first points first, of the size of its name or, where there is
/// no place for that, of the folded one; nothing where no place is free. All boxes lie within
/// `plot`, none is nearer to another of `dots` than to its own, and none touches another, a dot of
/// `radius` around any of `dots` or one of `lines`.
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
/// Writes the names of points at label_places().
void add_names(Picture& picture, const std::vector<NamedPoint>& points, const Box& plot,
               double radius, const std::vector<Point>& dots, const std::vector<Line>& lines,
               double font);

}  // namespace sluice

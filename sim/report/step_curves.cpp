#include "sim/report/step_curves.h"

#include <algorithm>
#include <cmath>

#include "sim/base/format.h"

namespace sluice {
namespace {

// Sizes in units of the font size.
constexpr double kChartHeight = 14, kBelowChart = 3, kAboveChart = 0.8, kDotRadius = 0.3;
constexpr int kTicks = 5;
constexpr double kSpare = 0.05;  // share of the axis beyond both ends

std::vector<Point> known_points(const StepCurves& chart) {
    std::vector<Point> out;
    for (const StepCurve& curve : chart.curves)
        for (const Point& point : curve.points)
            if (std::isfinite(point.y)) out.push_back(point);
    return out;
}

Axis curve_axis(const StepCurves& chart, const std::vector<Point>& points) {
    std::vector<double> values = chart.levels;
    for (const Point& point : points) values.push_back(point.y);
    const auto [low, high] = std::ranges::minmax(values);
    if (chart.logarithmic && low > 0 && high > 2 * low) return logarithmic_axis_around(values);
    const double room = high > low ? kSpare * (high - low) : std::max(std::abs(high), 1.0) * kSpare;
    return linear_axis(low - room, high + room, kTicks);
}

Axis step_axis(const std::vector<Point>& points) {
    const auto [first, last] = std::ranges::minmax(points, {}, &Point::x);
    return linear_axis(first.x, std::max(last.x, first.x + 1), kTicks);
}

void draw_curve(Picture& out, const StepCurve& curve, std::size_t index,
                const std::vector<Point>& places, double font) {
    const Paint colour = series_paint(index);
    const auto is_gap = [](const Point& point) { return !std::isfinite(point.y); };
    for (auto begin = places.begin(); begin != places.end();) {
        begin = std::find_if_not(begin, places.end(), is_gap);
        const auto end = std::find_if(begin, places.end(), is_gap);
        if (begin != end)
            out.shapes.push_back(
                {.form = Path{{begin, end}}, .stroke = colour, .stroke_width = 1.5});
        begin = end;
    }
    if (!curve.dotted && places.size() > 1) return;
    for (const Point& point : places)
        if (!is_gap(point))
            out.shapes.push_back({.form = Disc{point, kDotRadius * font}, .fill = colour});
}

}  // namespace

Picture step_curves_picture(const StepCurves& chart, const PictureSpace& space) {
    const double font = space.font;
    Picture out;
    out.width = space.width;
    double top = add_header(out, chart.title, chart.subtitle, font);
    std::vector<LegendEntry> legend;
    for (std::size_t i = 0; i < chart.curves.size(); ++i)
        legend.push_back({chart.curves[i].name, series_paint(i)});
    if (legend.size() > 1) top = add_legend(out, legend, {font, top}, out.width - 2 * font, font);
    out.height = std::max(space.height, top + kChartHeight * font);
    const std::vector<Point> points = known_points(chart);
    if (points.empty()) return out;
    const Axis steps = step_axis(points), values = curve_axis(chart, points);
    const double left = widest_label(values, chart.label, font) + 1.5 * font;
    const Box plot{left, top + kAboveChart * font, out.width - left - 1.5 * font,
                   out.height - top - (kAboveChart + kBelowChart) * font};
    add_horizontal_axis(out, plot, steps, format_thousands, font);
    add_vertical_axis(out, plot, values, chart.label, font);
    out.words({plot.right(), out.height - 0.6 * font}, "step", font, paint(Role::muted),
              Anchor::end);
    const auto y_of = [&](double value) {
        return plot.bottom() - values.share(value) * plot.height;
    };
    for (const double level : chart.levels)
        out.line({plot.x, y_of(level)}, {plot.right(), y_of(level)}, paint(Role::pointed_out), 1.5,
                 true);
    for (std::size_t i = 0; i < chart.curves.size(); ++i) {
        std::vector<Point> places;
        for (const Point& point : chart.curves[i].points)
            places.push_back({plot.x + steps.share(point.x) * plot.width, y_of(point.y)});
        draw_curve(out, chart.curves[i], i, places, font);
    }
    return out;
}

}  // namespace sluice

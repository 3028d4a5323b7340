#include "sim/report/chart_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/report/svg_text.h"

namespace sluice {
namespace {

constexpr double kWide = 10;       // beyond that an axis is logarithmic
constexpr double kRoom = 1.12;     // above the largest value, for its name
constexpr double kLogRoom = 1.25;  // beyond both ends, so that a single value has an axis

std::vector<double> multiples(double low, double high, const std::vector<double>& factors) {
    std::vector<double> found;
    const int first = static_cast<int>(std::floor(std::log10(low)));
    for (int power = first; std::pow(10.0, power) <= high; ++power)
        for (const double factor : factors)
            if (const double value = factor * std::pow(10.0, power); value >= low && value <= high)
                found.push_back(value);
    return found;
}

}  // namespace

double round_tick(double length, int most) {
    double tick = std::pow(10, std::floor(std::log10(length / most)));
    for (const double factor : {2.0, 2.5, 2.0}) {
        if (tick * most >= length) break;
        tick *= factor;
    }
    return tick;
}

double Axis::share(double value) const {
    if (high <= low) return 0.5;
    return logarithmic ? std::log(value / low) / std::log(high / low)
                       : (value - low) / (high - low);
}

Axis linear_axis(double low, double high, int most) {
    Axis axis{low, high, false, {}};
    const double tick = round_tick(high - low, most);
    // Rounding shall not cost the tick at an end.
    const double slack = tick * 1e-6;
    for (double i = std::ceil((low - slack) / tick); i * tick <= high + slack; ++i)
        axis.ticks.push_back(i == 0 ? 0 : i * tick);
    return axis;
}

Axis logarithmic_axis(double low, double high) {
    constexpr std::size_t kFewest = 3, kMost = 9;
    Axis axis{low, high, true, multiples(low, high, {1})};
    if (axis.ticks.size() > kMost / 2) return axis;
    axis.ticks = multiples(low, high, {1, 2, 5});
    // No two neighbours are further apart than 1.5.
    if (axis.ticks.size() < kFewest) axis.ticks = multiples(low, high, {1, 1.5, 2, 3, 4, 5, 7});
    return axis;
}

Axis logarithmic_axis_around(const std::vector<double>& values) {
    const auto [low, high] = std::ranges::minmax(values);
    return logarithmic_axis(low / kLogRoom, high * kLogRoom);
}

Axis axis_for_points(const std::vector<double>& values, int most) {
    if (values.empty()) return {};
    const auto [low, high] = std::ranges::minmax(values);
    if (low > 0 && high > kWide * low) {
        const Axis around = logarithmic_axis_around(values);
        return {around.low / kRoom, around.high * kRoom, true, around.ticks};
    }
    return linear_axis(0, std::max(high, 1e-9) * kRoom, most);
}

Axis axis_between(const std::vector<double>& values, int most) {
    if (values.empty()) return {};
    const auto [low, high] = std::ranges::minmax(values);
    if (high <= low) return {low, high, false, {low}};
    Axis axis =
        low > 0 && high > kWide * low ? logarithmic_axis(low, high) : linear_axis(low, high, most);
    if (axis.ticks.empty()) axis.ticks = {low, high};
    return axis;
}

void add_horizontal_axis(Picture& picture, const Box& plot, const Axis& axis,
                         const TickLabel& label, double font) {
    double free = -std::numeric_limits<double>::infinity();
    for (const double tick : axis.ticks) {
        const double x = plot.x + axis.share(tick) * plot.width;
        picture.line({x, plot.y}, {x, plot.bottom()}, paint(Role::grid));
        const std::string words = label(tick);
        const double half = text_width(words, font) / 2;
        if (x - half < free) continue;
        free = x + half + font / 2;
        picture.words({x, plot.bottom() + 1.4 * font}, words, font, paint(Role::muted),
                      Anchor::middle);
    }
}

void add_vertical_axis(Picture& picture, const Box& plot, const Axis& axis, const TickLabel& label,
                       double font) {
    double lowest = std::numeric_limits<double>::infinity();
    for (const double tick : axis.ticks) {
        const double y = plot.bottom() - axis.share(tick) * plot.height;
        picture.line({plot.x, y}, {plot.right(), y}, paint(Role::grid));
        if (y + font / 2 > lowest) continue;
        lowest = y - font / 2;
        picture.words({plot.x - font / 2, baseline(y, font)}, label(tick), font, paint(Role::muted),
                      Anchor::end);
    }
}

double widest_label(const Axis& axis, const TickLabel& label, double font) {
    double widest = 0;
    for (const double tick : axis.ticks) widest = std::max(widest, text_width(label(tick), font));
    return widest;
}

double add_paragraph(Picture& picture, Point top_left, double width, std::string_view words,
                     double font, Paint colour, bool bold) {
    double y = top_left.y;
    if (words.empty()) return y;
    for (const std::string& line : wrap_text(words, font, width)) {
        picture.words({top_left.x, y + 1.05 * font}, line, font, colour, Anchor::start, bold);
        y += line_height(font);
    }
    return y;
}

double add_header(Picture& picture, std::string_view title, std::string_view subtitle,
                  double font) {
    picture.title = title;
    picture.description = subtitle;
    const double width = picture.width - 2 * font;
    double y = add_paragraph(picture, {font, 0.6 * font}, width, title, 1.3 * font,
                             paint(Role::text), true);
    y = add_paragraph(picture, {font, y}, width, subtitle, font, paint(Role::muted));
    return y + 0.4 * font;
}

double add_legend(Picture& picture, const std::vector<LegendEntry>& entries, Point top_left,
                  double width, double font) {
    if (entries.empty()) return top_left.y;
    double x = top_left.x, y = top_left.y;
    for (const LegendEntry& entry : entries) {
        const double wide = 1.5 * font + text_width(entry.name, font);
        if (x > top_left.x && x + wide > top_left.x + width) {
            x = top_left.x;
            y += line_height(font);
        }
        const Box swatch{x, y + 0.2 * font, font, font};
        if (entry.mark == LegendEntry::Mark::square) picture.rectangle(swatch, entry.colour);
        if (entry.mark == LegendEntry::Mark::disc)
            picture.shapes.push_back(
                {.form = Disc{swatch.centre(), 0.42 * font}, .fill = entry.colour});
        if (entry.mark == LegendEntry::Mark::hatched) {
            picture.hatching(swatch, entry.colour, font / 3);
            picture.outline(swatch, entry.colour);
        }
        picture.words({x + 1.5 * font, y + 1.05 * font}, entry.name, font);
        x += wide + font;
    }
    return y + line_height(font);
}

}  // namespace sluice

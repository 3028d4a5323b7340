#include "sim/report/chart_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace sluice {
namespace {

constexpr double kWide = 10;       // ratio above which an axis is logarithmic
constexpr double kRoom = 1.12;     // room above the largest value for its name
constexpr double kLogRoom = 1.25;  // room beyond both ends, so that a single value has an axis

std::vector<double> multiples(double low, double high, const std::vector<double>& factors) {
    std::vector<double> found;
    const int first = static_cast<int>(std::floor(std::log10(low)));
    for (int power = first; std::pow(10.0, power) <= high; ++power)
        for (const double factor : factors)
            if (const double value = factor * std::pow(10.0, power); value >= low && value <= high)
                found.push_back(value);
    return found;
}

/// Positions to the right and left of the point at distance `gap`; first those that a front, which
/// rises to the right, does not cross. Then the same positions further away.
void add_candidates(std::vector<Box>& boxes, Point point, double width, double height, double gap) {
    for (const double away : {gap, gap + height / 2, gap + height}) {
        const double right = point.x + gap, left = point.x - gap - width;
        const double above = point.y - away - height, below = point.y + away;
        const double x = point.x - width / 2, y = point.y - height / 2;
        for (const Point corner :
             {Point{left, above}, Point{right, below}, Point{right, y}, Point{left, y},
              Point{x, above}, Point{x, below}, Point{right, above}, Point{left, below}})
            boxes.push_back({corner.x, corner.y, width, height});
    }
}

/// Clips the line at the box's sides (Liang and Barsky).
bool crosses(const Box& box, const Line& line) {
    const double dx = line.second.x - line.first.x, dy = line.second.y - line.first.y;
    const std::array<std::pair<double, double>, 4> sides = {{{-dx, line.first.x - box.x},
                                                             {dx, box.right() - line.first.x},
                                                             {-dy, line.first.y - box.y},
                                                             {dy, box.bottom() - line.first.y}}};
    double from = 0, to = 1;
    for (const auto& [slope, room] : sides) {
        if (slope == 0 && room < 0) return false;
        if (slope < 0) from = std::max(from, room / slope);
        if (slope > 0) to = std::min(to, room / slope);
    }
    return from <= to;
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

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
    // Rounding must not lose the tick at an end.
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
    // Neighbouring ticks differ by a factor of 1.5 at most.
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

std::vector<std::string> wrap_text(std::string_view text, double size, double width) {
    return wrap_text(
        text, std::max<std::size_t>(
                  8, static_cast<std::size_t>(std::max(0.0, width) / text_width("x", size))));
}

std::vector<std::string> wrap_text(std::string_view text, std::size_t most) {
    std::vector<std::string> lines;
    while (text.size() > most) {
        std::size_t end = text.rfind(' ', most);
        const bool at_space = end != std::string_view::npos && end > 0;
        if (!at_space) {
            end = most;
            while (end > 1 && continues_character(text[end])) --end;
        }
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(at_space ? end + 1 : end);
    }
    lines.emplace_back(text);
    return lines;
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

std::vector<std::optional<Box>> label_places(const std::vector<LabelledPoint>& points,
                                             const Box& plot, double radius,
                                             const std::vector<Point>& dots,
                                             const std::vector<Line>& lines) {
    std::vector<Box> taken;
    for (const Point& dot : dots)
        taken.push_back({dot.x - radius, dot.y - radius, 2 * radius, 2 * radius});
    const auto is_free = [&](const Box& box) {
        return plot.contains(box) &&
               std::ranges::none_of(taken, [&](const Box& one) { return one.touches(box); });
    };
    std::vector<std::optional<Box>> out;
    for (const LabelledPoint& point : points) {
        std::vector<Box> boxes;
        add_candidates(boxes, point.point, point.width, point.height, 1.4 * radius);
        if (point.folded_width > 0)
            add_candidates(boxes, point.point, point.folded_width, point.folded_height,
                           1.4 * radius);
        const auto is_place = [&](const Box& box) {
            const double own = distance(box, point.point);
            return is_free(box) &&
                   std::ranges::none_of(lines,
                                        [&](const Line& line) { return crosses(box, line); }) &&
                   std::ranges::none_of(dots, [&](Point dot) { return distance(box, dot) < own; });
        };
        auto place = std::ranges::find_if(boxes, is_place);
        if (place == boxes.end() && point.must_be_named)
            place = std::ranges::find_if(boxes, is_free);
        out.push_back(place == boxes.end() ? std::nullopt : std::optional(*place));
        if (!out.back() && point.must_be_named)
            out.back() = Box{std::max(plot.x, std::min(point.point.x - point.width / 2,
                                                       plot.right() - point.width)),
                             point.point.y - 1.5 * point.height, point.width, point.height};
        if (out.back()) taken.push_back(*out.back());
    }
    return out;
}

void add_names(Picture& picture, const std::vector<NamedPoint>& points, const Box& plot,
               double radius, const std::vector<Point>& dots, const std::vector<Line>& lines,
               double font) {
    const double line = 1.25 * font;
    const auto in_one_line = [](const NamedPoint& point) {
        return point.second.empty() ? point.name : point.name + ", " + point.second;
    };
    std::vector<LabelledPoint> labels;
    for (const NamedPoint& point : points) {
        LabelledPoint& label = labels.emplace_back(
            LabelledPoint{point.point, text_width(in_one_line(point), font), line});
        label.must_be_named = point.must_be_named;
        if (point.second.empty()) continue;
        label.folded_width = std::max(text_width(point.name, font), text_width(point.second, font));
        label.folded_height = 2 * line;
    }
    const auto places = label_places(labels, plot, radius, dots, lines);
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!places[i]) continue;
        const NamedPoint& point = points[i];
        const bool folded = places[i]->height > line;
        const double x = places[i]->centre().x, y = places[i]->y;
        picture.label({x, y + font}, folded ? point.name : in_one_line(point), font, point.ink,
                      Anchor::middle);
        if (folded)
            picture.label({x, y + 2.25 * font}, point.second, font, point.ink, Anchor::middle);
    }
}

}  // namespace sluice

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/report/chart_parts.h"

namespace sluice {
namespace {

/// Beside the point, `gap` from the dot; first where a front that rises to the right does not run.
/// Then the same further away.
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

/// Cuts the line at the box's sides (Liang and Barsky).
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

}  // namespace

std::vector<std::optional<Box>> label_places(const std::vector<LabelledPoint>& points,
                                             const Box& plot, double radius,
                                             const std::vector<Point>& dots,
                                             const std::vector<Line>& lines) {
    std::vector<Box> taken;
    for (const Point& dot : dots)
        taken.push_back({dot.x - radius, dot.y - radius, 2 * radius, 2 * radius});
    const auto is_free = [&](const Box& box) {
        return plot.contains(box) &&
               std::ranges::none_of(taken, [&](const Box& one) { return one.touches(box); }) &&
               std::ranges::none_of(lines, [&](const Line& line) { return crosses(box, line); });
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
                   std::ranges::none_of(dots, [&](Point dot) { return distance(box, dot) < own; });
        };
        const auto place = std::ranges::find_if(boxes, is_place);
        out.push_back(place == boxes.end() ? std::nullopt : std::optional(*place));
        if (out.back()) taken.push_back(*out.back());
    }
    return out;
}

}  // namespace sluice

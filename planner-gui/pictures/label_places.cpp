#include "planner-gui/pictures/label_places.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sluice {
namespace {

/// Around the point, `gap` from the dot; first where a front that rises to the right does not run.
std::array<QRectF, 8> candidates(const LabelledPoint& point, double gap) {
    const double width = point.label.width(), height = point.label.height();
    const double right = point.point.x() + gap, left = point.point.x() - gap - width;
    const double above = point.point.y() - gap - height, below = point.point.y() + gap;
    const double middle_x = point.point.x() - width / 2, middle_y = point.point.y() - height / 2;
    const auto box = [&](double x, double y) { return QRectF(x, y, width, height); };
    return {box(left, above),     box(right, below),    box(right, middle_y), box(left, middle_y),
            box(middle_x, above), box(middle_x, below), box(right, above),    box(left, below)};
}

}  // namespace

std::vector<std::optional<QRectF>> label_places(const std::vector<LabelledPoint>& points,
                                                const QRectF& plot, double radius) {
    std::vector<QRectF> taken;
    for (const LabelledPoint& point : points)
        taken.emplace_back(point.point.x() - radius, point.point.y() - radius, 2 * radius,
                           2 * radius);
    std::vector<std::optional<QRectF>> out;
    for (const LabelledPoint& point : points) {
        std::optional<QRectF> place;
        for (const QRectF& box : candidates(point, 1.4 * radius)) {
            const bool is_free = plot.contains(box) &&
                                 std::none_of(taken.begin(), taken.end(), [&](const QRectF& other) {
                                     return other.intersects(box);
                                 });
            if (!is_free) continue;
            place = box;
            taken.push_back(box);
            break;
        }
        out.push_back(place);
    }
    return out;
}

std::optional<std::size_t> nearest_point(const std::vector<QPointF>& points, QPointF place,
                                         double reach) {
    std::optional<std::size_t> nearest;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const double distance = std::hypot(points[i].x() - place.x(), points[i].y() - place.y());
        if (distance > reach) continue;
        nearest = i;
        reach = distance;
    }
    return nearest;
}

}  // namespace sluice

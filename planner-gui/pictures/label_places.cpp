#include "planner-gui/pictures/label_places.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sluice {
namespace {

/// Beside the point, `gap` from the dot; first where a front that rises to the right does not run.
/// Then the same further away.
void add_candidates(std::vector<QRectF>& boxes, QPointF point, QSizeF label, double gap) {
    const double width = label.width(), height = label.height();
    for (const double away : {gap, gap + height / 2, gap + height}) {
        const double right = point.x() + gap, left = point.x() - gap - width;
        const double above = point.y() - away - height, below = point.y() + away;
        const double x = point.x() - width / 2, y = point.y() - height / 2;
        for (const QPointF corner :
             {QPointF(left, above), QPointF(right, below), QPointF(right, y), QPointF(left, y),
              QPointF(x, above), QPointF(x, below), QPointF(right, above), QPointF(left, below)})
            boxes.emplace_back(corner, label);
    }
}

bool crosses(const QRectF& box, const QLineF& line) {
    if (box.contains(line.p1()) || box.contains(line.p2())) return true;
    const std::array<QLineF, 4> sides = {
        QLineF(box.topLeft(), box.topRight()), QLineF(box.topRight(), box.bottomRight()),
        QLineF(box.bottomRight(), box.bottomLeft()), QLineF(box.bottomLeft(), box.topLeft())};
    return std::ranges::any_of(sides, [&](const QLineF& side) {
        return side.intersects(line, nullptr) == QLineF::BoundedIntersection;
    });
}

double distance(const QRectF& box, QPointF point) {
    return std::hypot(std::max({box.left() - point.x(), 0.0, point.x() - box.right()}),
                      std::max({box.top() - point.y(), 0.0, point.y() - box.bottom()}));
}

}  // namespace

std::vector<std::optional<QRectF>> label_places(const std::vector<LabelledPoint>& points,
                                                const QRectF& plot, double radius,
                                                const std::vector<QPointF>& dots,
                                                const std::vector<QLineF>& lines) {
    std::vector<QRectF> taken;
    for (const QPointF& dot : dots)
        taken.emplace_back(dot - QPointF(radius, radius), QSizeF(2 * radius, 2 * radius));
    const auto is_free = [&](const QRectF& box) {
        return plot.contains(box) &&
               std::ranges::none_of(taken,
                                    [&](const QRectF& one) { return one.intersects(box); }) &&
               std::ranges::none_of(lines, [&](const QLineF& line) { return crosses(box, line); });
    };
    std::vector<std::optional<QRectF>> out;
    for (const LabelledPoint& point : points) {
        std::vector<QRectF> boxes;
        add_candidates(boxes, point.point, point.label, 1.4 * radius);
        if (!point.folded.isEmpty()) add_candidates(boxes, point.point, point.folded, 1.4 * radius);
        const auto is_place = [&](const QRectF& box) {
            const double own = distance(box, point.point);
            return is_free(box) && std::ranges::none_of(
                                       dots, [&](QPointF dot) { return distance(box, dot) < own; });
        };
        const auto place = std::ranges::find_if(boxes, is_place);
        out.push_back(place == boxes.end() ? std::nullopt : std::optional(*place));
        if (out.back()) taken.push_back(*out.back());
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

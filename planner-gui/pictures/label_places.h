// Where may the names of points stand so that they cover neither each other nor a point?
#pragma once

#include <QPointF>
#include <QRectF>
#include <QSizeF>
#include <optional>
#include <vector>

namespace sluice {

struct LabelledPoint {
    QPointF point;
    QSizeF label;  ///< size of its name
};

/// A box beside each point, for the first points first; nothing where no place is free. All boxes
/// lie within `plot`, and none touches another or a dot of `radius` around any point.
std::vector<std::optional<QRectF>> label_places(const std::vector<LabelledPoint>& points,
                                                const QRectF& plot, double radius);

/// The point that is nearest to `place`, if it is no further than `reach`.
std::optional<std::size_t> nearest_point(const std::vector<QPointF>& points, QPointF place,
                                         double reach);

}  // namespace sluice

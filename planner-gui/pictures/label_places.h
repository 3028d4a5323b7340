// Where may the names of points stand so that they cover neither each other nor points and lines?
#pragma once

#include <QLineF>
#include <QPointF>
#include <QRectF>
#include <QSizeF>
#include <optional>
#include <vector>

namespace sluice {

struct LabelledPoint {
    QPointF point;
    QSizeF label;        ///< size of its name
    QSizeF folded = {};  ///< of its name in two lines; empty: it stays in one
};

/// A box beside each point, for the first points first, of the size of its name or, where there is
/// no place for that, of the folded one; nothing where no place is free. All boxes lie within
/// `plot`, none is nearer to another of `dots` than to its own, and none touches another, a dot of
/// `radius` around any of `dots` or one of `lines`.
std::vector<std::optional<QRectF>> label_places(const std::vector<LabelledPoint>& points,
                                                const QRectF& plot, double radius,
                                                const std::vector<QPointF>& dots,
                                                const std::vector<QLineF>& lines = {});

/// The point that is nearest to `place`, if it is no further than `reach`.
std::optional<std::size_t> nearest_point(const std::vector<QPointF>& points, QPointF place,
                                         double reach);

}  // namespace sluice

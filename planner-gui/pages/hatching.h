// Diagonal lines over an area: lines, not a brush's pattern, which some SVG readers (Qt's own)
// leave out.
#pragma once

#include <QPainter>

namespace sluice {

/// Hatches `box`; neighbouring boxes' lines meet. `spacing` is along a side, in pixels.
void hatch(QPainter& painter, const QRectF& box, const QColor& colour, double spacing = 9);

/// What there is no room for: paler, and hatched.
void hatch_as_lacking(QPainter& painter, const QRectF& box, const QColor& ground,
                      const QColor& colour);

}  // namespace sluice

#include "planner-gui/pages/hatching.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

constexpr float kVeil = 0.55F;  // opacity

}  // namespace

void hatch(QPainter& painter, const QRectF& box, const QColor& colour, double spacing) {
    if (box.width() <= 0 || box.height() <= 0) return;
    QList<QLineF> lines;
    // On a line x + y is the same.
    const double first = std::ceil((box.left() + box.top()) / spacing) * spacing;
    for (double sum = first; sum < box.right() + box.bottom(); sum += spacing) {
        const double left = std::max(box.left(), sum - box.bottom());
        const double right = std::min(box.right(), sum - box.top());
        lines.append(QLineF(left, sum - left, right, sum - right));
    }
    painter.setPen(QPen(colour, 1));
    painter.drawLines(lines);
}

void hatch_as_lacking(QPainter& painter, const QRectF& box, const QColor& ground,
                      const QColor& colour) {
    QColor veil = ground;
    veil.setAlphaF(kVeil);
    painter.fillRect(box, veil);
    hatch(painter, box, colour);
}

}  // namespace sluice

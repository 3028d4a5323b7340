// The device's memory over a step.
#include <algorithm>
#include <cmath>

#include "planner-gui/pages/hatching.h"
#include "planner-gui/pages/memory_painter.h"
#include "planner-gui/pictures/timeline_layout.h"

namespace sluice {

void MemoryPainter::curve_axes(QPainter& painter, const MemoryLayout& layout) const {
    const QRectF& plot = layout.curve;
    const Seconds step = picture_.report->step.seconds;
    const double full = static_cast<double>(layout.curve_full);
    const int most = std::max(2, static_cast<int>(plot.height() / (2.5 * line_)));
    const double tick = byte_tick(layout.curve_full, most);
    for (int i = 0; i * tick <= full; ++i) {
        const double y = std::round(plot.bottom() - i * tick / full * plot.height());
        painter.setPen(palette_.grid());
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
        painter.setPen(palette_.muted());
        const QString words = i == 0 ? QStringLiteral("0") : byte_text(i * tick, units_);
        painter.drawText(QPointF(plot.left() - line_ / 2 - metrics_.horizontalAdvance(words),
                                 y + metrics_.ascent() / 2 - metrics_.descent() / 2),
                         words);
    }
    const double widest = metrics_.horizontalAdvance(QStringLiteral("00000000"));
    const TimeTicks ticks =
        time_ticks(0, step, std::max(2, static_cast<int>(plot.width() / widest)));
    const double baseline = plot.bottom() + line_ * 0.3 + metrics_.ascent();
    for (const TimeTick& at : ticks.ticks) {
        const double x = plot.left() + at.time / step * plot.width();
        painter.setPen(palette_.grid());
        painter.drawLine(QPointF(x, plot.bottom()), QPointF(x, plot.bottom() + line_ * 0.25));
        painter.setPen(palette_.muted());
        const QString words = QString::fromStdString(at.label);
        painter.drawText(QPointF(x - metrics_.horizontalAdvance(words) / 2, baseline), words);
    }
    painter.drawText(
        QPointF(plot.left() - line_ - metrics_.horizontalAdvance(QStringLiteral("time, ms")),
                baseline),
        QStringLiteral("time, %1").arg(QString::fromUtf8(ticks.unit)));
}

void MemoryPainter::curve(QPainter& painter, const MemoryLayout& layout,
                          std::optional<Seconds> cursor) const {
    const QRectF& plot = layout.curve;
    const Fit::OfTier& tier = picture_.report->plan.fit.device;
    const Bytes most = most_memory(picture_.curve).bytes;
    QString more = QStringLiteral("most %1").arg(bytes(most));
    if (!memory_changes(*picture_.report, Tier::device))
        more += QStringLiteral("; this schedule plans it for the whole step");
    title(painter, QPointF(layout.bars.front().left(), plot.top() - kTitle * line_),
          QStringLiteral("device over a step"), more, palette_.muted());
    painter.fillRect(plot, palette_.plot());
    curve_axes(painter, layout);
    const auto y = [&](Bytes count) {
        return std::round(plot.bottom() - static_cast<double>(count) /
                                              static_cast<double>(layout.curve_full) *
                                              plot.height());
    };
    const int columns = std::max(1, static_cast<int>(plot.width()));
    const std::vector<MemoryMoment> shown =
        curve_columns(picture_.curve, picture_.report->step.seconds, columns);
    // Each kind down to the axis, the topmost first: whole areas, without seams between columns.
    const auto outline = [&](int kind) {
        QPolygonF area({plot.bottomLeft()});
        for (std::size_t i = 0; i < shown.size(); ++i) {
            Bytes level = 0;
            for (int below = 0; below <= kind; ++below)
                level += shown[i].by_kind[static_cast<std::size_t>(below)];
            const double left = plot.left() + static_cast<double>(i);
            if (area.back().y() != y(level))
                area << QPointF(left, area.back().y()) << QPointF(left, y(level));
        }
        area << QPointF(plot.right(), area.back().y()) << plot.bottomRight();
        return area;
    };
    painter.setPen(Qt::NoPen);
    for (int kind = kMemoryKindCount - 1; kind >= 0; --kind) {
        painter.setBrush(palette_.memory(static_cast<MemoryKind>(kind)));
        painter.drawPolygon(outline(kind));
    }
    for (std::size_t i = 0; !picture_.report->plan.unified_memory && i < shown.size();) {
        const std::size_t from = i;
        while (i < shown.size() && shown[i].bytes == shown[from].bytes) ++i;
        if (shown[from].bytes <= tier.usable) continue;
        const QRectF past(QPointF(plot.left() + static_cast<double>(from), y(shown[from].bytes)),
                          QPointF(plot.left() + static_cast<double>(i), y(tier.usable)));
        hatch_as_lacking(painter, past, palette_.window(), palette_.waiting());
    }
    if (!picture_.report->plan.unified_memory && tier.usable <= layout.curve_full) {
        painter.setPen(QPen(palette_.capacity(), 3));
        painter.drawLine(QPointF(plot.left(), y(tier.usable)),
                         QPointF(plot.right(), y(tier.usable)));
    }
    if (!cursor) return;
    const double x = plot.left() + *cursor / picture_.report->step.seconds * plot.width();
    painter.setPen(QPen(palette_.selection(), 1));
    painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
}

}  // namespace sluice

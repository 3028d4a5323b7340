// Bars of device and host, and the host's rows from loading to saving.
#include <algorithm>
#include <cmath>

#include "planner-gui/pages/hatching.h"
#include "planner-gui/pages/memory_painter.h"

namespace sluice {

void MemoryPainter::axis(QPainter& painter, const QRectF& plot, Bytes full) const {
    const double widest = metrics_.horizontalAdvance(QStringLiteral("0000.0 GiB")) + line_;
    const double tick = byte_tick(full, std::max(1, static_cast<int>(plot.width() / widest)));
    for (int i = 0; i * tick <= static_cast<double>(full); ++i) {
        const double x = plot.left() + i * tick / static_cast<double>(full) * plot.width();
        painter.setPen(palette_.grid());
        painter.drawLine(QPointF(x, plot.bottom()), QPointF(x, plot.bottom() + line_ * 0.25));
        painter.setPen(palette_.muted());
        const QString words = i == 0 ? QStringLiteral("0") : byte_text(i * tick, units_);
        const double wide = metrics_.horizontalAdvance(words);
        painter.drawText(
            QPointF(std::clamp(x - wide / 2, plot.left() - line_ / 4, plot.right() + line_ - wide),
                    plot.bottom() + line_ * 0.25 + metrics_.ascent()),
            words);
    }
}

void MemoryPainter::bar(QPainter& painter, const MemoryLayout& layout, std::size_t index) const {
    const MemoryStack& stack = picture_.stacks[index];
    const QRectF& plot = layout.bars[index];
    const auto full = static_cast<double>(layout.full[index]);
    const auto x = [&](Bytes count) {
        return std::round(plot.left() + static_cast<double>(count) / full * plot.width());
    };
    title(painter, QPointF(plot.left(), plot.top() - kTitle * line_), stack.name,
          stack.words(units_), stack.shortage() > 0 ? palette_.waiting() : palette_.muted());
    painter.fillRect(plot, palette_.plot());
    axis(painter, plot, layout.full[index]);
    const auto box_of = [&](const MemorySegment& segment) {
        const double from = x(segment.from);
        return QRectF(QPointF(from, plot.top()),
                      QPointF(std::max(from + 1, x(segment.from + segment.bytes)), plot.bottom()));
    };
    for (const MemorySegment& segment : stack.segments) {
        const QRectF box = box_of(segment);
        painter.fillRect(box, fill(segment));
        if (box.width() <= 3) continue;
        painter.setPen(palette_.window());
        painter.drawLine(box.topRight() - QPointF(1, 0), box.bottomRight() - QPointF(1, 1));
    }
    const double there = x(stack.usable);
    if (stack.shortage() > 0) {
        const QRectF past(QPointF(there, plot.top()), QPointF(x(stack.used), plot.bottom()));
        hatch_as_lacking(painter, past, palette_.window(), palette_.waiting());
        painter.setPen(QPen(palette_.waiting(), 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(past.adjusted(0, 0, -1, -1));
    } else if (stack.usable > 0 && stack.capacity > stack.usable) {
        // Not for the plan: CUDA context, the system, what a budget leaves.
        hatch(painter,
              QRectF(QPointF(there, plot.top()), QPointF(x(stack.capacity), plot.bottom())),
              palette_.axis());
    }
    for (const MemorySegment& segment : stack.segments) {
        QRectF box = box_of(segment);
        // Where the line of what there is crosses it, in the larger part.
        if (stack.shortage() > 0 && box.left() < there && there < box.right())
            2 * there > box.left() + box.right() ? box.setRight(there) : box.setLeft(there);
        name_on(painter, box, segment);
    }
    if (stack.usable == 0) return;
    painter.setPen(QPen(palette_.capacity(), 3));
    painter.drawLine(QPointF(there, plot.top() - line_ * 0.25),
                     QPointF(there, plot.bottom() + line_ * 0.15));
}

void MemoryPainter::name_on(QPainter& painter, const QRectF& box,
                            const MemorySegment& segment) const {
    const double wide = metrics_.horizontalAdvance(segment.name) + line_ / 2;
    if (wide > box.width()) return;
    const QRectF words(box.center() - QPointF(wide, line_ * 1.1) / 2, QSizeF(wide, line_ * 1.1));
    painter.fillRect(words, fill(segment));  // legible on what is hatched
    painter.setPen(Palette::text_on(fill(segment)));
    painter.drawText(words, Qt::AlignCenter, segment.name);
}

void MemoryPainter::host(QPainter& painter, const MemoryLayout& layout) const {
    if (layout.host.empty()) return;
    double names = 0;
    for (const HostBar& bar : picture_.host)
        names = std::max(names, metrics_.horizontalAdvance(bar.name));
    const Bytes usable =
        picture_.report->plan.unified_memory ? 0 : picture_.report->plan.fit.host.usable;
    title(painter,
          QPointF(layout.host.front().left() - names - line_ / 2,
                  layout.host.front().top() - kTitle * line_),
          QStringLiteral("host, from loading to saving"),
          picture_.report->plan.unified_memory ? QStringLiteral("without the device's part")
                                               : QString(),
          palette_.muted());
    for (std::size_t i = 0; i < layout.host.size(); ++i)
        host_row(painter, picture_.host[i], layout.host[i], layout.host_full, usable);
    if (usable == 0) return;
    painter.setPen(palette_.muted());
    const QString note =
        QStringLiteral("Thick line: what there is for the plan, %1").arg(bytes(usable));
    // Further to the left where it would not end within the picture.
    const double end = layout.table.right() - metrics_.horizontalAdvance(note);
    painter.drawText(QPointF(std::min(layout.host.front().left(), end),
                             layout.host.back().bottom() + metrics_.ascent() + line_ * 0.6),
                     note);
}

void MemoryPainter::host_row(QPainter& painter, const HostBar& bar, const QRectF& row, Bytes full,
                             Bytes usable) const {
    const auto x = [&](Bytes count) {
        return std::round(row.left() +
                          static_cast<double>(count) / static_cast<double>(full) * row.width());
    };
    const double baseline = row.center().y() + metrics_.ascent() / 2 - metrics_.descent() / 2;
    painter.setPen(palette_.text());
    painter.drawText(
        QPointF(row.left() - line_ / 2 - metrics_.horizontalAdvance(bar.name), baseline), bar.name);
    painter.fillRect(row, palette_.plot());
    painter.fillRect(QRectF(row.topLeft(), QPointF(x(bar.bytes), row.bottom())),
                     Palette::pointed_out());
    const bool lacks = usable > 0 && bar.bytes > usable;
    if (lacks)
        hatch_as_lacking(painter,
                         QRectF(QPointF(x(usable), row.top()), QPointF(x(bar.bytes), row.bottom())),
                         palette_.window(), palette_.waiting());
    if (usable > 0) {
        painter.setPen(QPen(palette_.capacity(), 3));
        painter.drawLine(QPointF(x(usable), row.top() - 2), QPointF(x(usable), row.bottom() + 2));
    }
    painter.setPen(lacks ? palette_.waiting() : palette_.text());
    painter.drawText(QPointF(row.right() + line_ / 2, baseline), bytes(bar.bytes));
}

}  // namespace sluice

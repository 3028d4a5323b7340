// The table of what device and host hold at the peak; its squares are the legend.
#include <algorithm>

#include "planner-gui/pages/memory_painter.h"

namespace sluice {

/// The segments of all stacks, each name once, in their order; with the kinds that are there only
/// at other times of the step.
std::vector<QString> MemoryPainter::row_names() const {
    std::vector<QString> kinds, others;
    for (int i = 0; i < kMemoryKindCount; ++i) {
        const QString name = QString::fromUtf8(memory_kind_name(static_cast<MemoryKind>(i)));
        const auto kind = static_cast<std::size_t>(i);
        if (std::ranges::any_of(picture_.curve, [kind](const MemoryMoment& moment) {
                return moment.by_kind[kind] > 0;
            }))
            kinds.push_back(name);
        for (const MemoryStack& stack : picture_.stacks)
            if (std::ranges::count(stack.segments, name, &MemorySegment::name) > 0 &&
                std::ranges::count(kinds, name) == 0)
                kinds.push_back(name);
    }
    for (const MemoryStack& stack : picture_.stacks)
        for (const MemorySegment& segment : stack.segments)
            if (segment.what != MemorySegment::What::kind) others.push_back(segment.name);
    kinds.insert(kinds.end(), others.begin(), others.end());
    return kinds;
}

QString MemoryPainter::cell(const QString& row, const MemoryStack& stack) const {
    const auto segment = std::ranges::find(stack.segments, row, &MemorySegment::name);
    return segment == stack.segments.end() ? QStringLiteral("-") : bytes(segment->bytes);
}

double MemoryPainter::column_width(const MemoryStack& stack) const {
    double wide = bold_metrics_.horizontalAdvance(stack.name);
    for (const QString& row : row_names())
        wide = std::max(wide, metrics_.horizontalAdvance(cell(row, stack)));
    return std::max(wide, bold_metrics_.horizontalAdvance(bytes(stack.used))) + line_;
}

double MemoryPainter::names_width() const {
    double wide = 0;
    for (const QString& row : row_names()) wide = std::max(wide, metrics_.horizontalAdvance(row));
    return wide + 1.5 * line_;
}

QColor MemoryPainter::fill(const MemorySegment& segment) const {
    return segment.what == MemorySegment::What::kind ? palette_.memory(segment.kind)
                                                     : palette_.beaten();
}

QColor MemoryPainter::fill(const QString& row) const {
    for (int i = 0; i < kMemoryKindCount; ++i)
        if (row == QString::fromUtf8(memory_kind_name(static_cast<MemoryKind>(i))))
            return palette_.memory(static_cast<MemoryKind>(i));
    return palette_.beaten();
}

void MemoryPainter::table(QPainter& painter, const MemoryLayout& layout) const {
    const double pitch = kRow * line_;
    const auto write = [&](double right, double y, const QString& words,
                           const QFontMetricsF& metrics) {
        painter.drawText(QPointF(right - metrics.horizontalAdvance(words), y + metrics.ascent()),
                         words);
    };
    const auto columns = [&](double y, const QFontMetricsF& metrics, auto text) {
        double right = layout.table.left() + names_width();
        for (const MemoryStack& stack : picture_.stacks) {
            right += column_width(stack);
            write(right, y, text(stack), metrics);
        }
    };
    double y = layout.table.top();
    painter.setFont(bold_);
    painter.setPen(palette_.text());
    painter.drawText(QPointF(layout.table.left(), y + bold_metrics_.ascent()),
                     QStringLiteral("at the peak"));
    columns(y, bold_metrics_, [](const MemoryStack& stack) { return stack.name; });
    painter.setFont(font_);
    for (const QString& row : row_names()) {
        y += pitch;
        painter.fillRect(QRectF(layout.table.left(), y + line_ * 0.1, line_ * 0.8, line_ * 0.8),
                         fill(row));
        painter.setPen(palette_.text());
        painter.drawText(QPointF(layout.table.left() + 1.2 * line_, y + metrics_.ascent()), row);
        columns(y, metrics_, [&](const MemoryStack& stack) { return cell(row, stack); });
    }
    y += pitch;
    painter.setPen(palette_.grid());
    painter.drawLine(QPointF(layout.table.left(), y - 0.2 * line_),
                     QPointF(layout.table.right(), y - 0.2 * line_));
    painter.setFont(bold_);
    painter.setPen(palette_.text());
    painter.drawText(QPointF(layout.table.left() + 1.2 * line_, y + bold_metrics_.ascent()),
                     QStringLiteral("all"));
    columns(y, bold_metrics_, [&](const MemoryStack& stack) { return bytes(stack.used); });
    painter.setFont(font_);
}

}  // namespace sluice

#include "planner-gui/pages/memory_painter.h"

#include <algorithm>
#include <cmath>

#include "sim/report/svg_geometry.h"

namespace sluice {
namespace {

// In heights of a line.
constexpr double kBar = 1.9, kMostBar = 3.2, kAxis = 1.6, kGap = 0.9, kLeastCurve = 9;
constexpr double kRoom = 1.12;  // above the curve's peak
constexpr double kCurveShare = 0.6;
constexpr int kMostTicks = 8;

QFont bold(QFont font) {
    font.setBold(true);
    return font;
}

}  // namespace

MemoryPicture::MemoryPicture(std::shared_ptr<const TimedPlan> of) : report(std::move(of)) {
    if (!report) return;
    stacks = memory_stacks(*report);
    host = host_bars(*report);
    if (report->step.seconds > 0 &&
        report->step.intervals.size() == report->plan.program.operations.size())
        curve = memory_over_step(*report, Tier::device);
}

std::optional<Seconds> MemoryLayout::time_at(QPointF position, Seconds step) const {
    if (!curve.contains(position)) return std::nullopt;
    return (position.x() - curve.left()) / curve.width() * step;
}

MemoryPainter::MemoryPainter(const MemoryPicture& picture, const Palette& palette, ByteUnits units,
                             const QFont& font, const QPaintDevice* device)
    : picture_(picture),
      palette_(palette),
      units_(units),
      font_(font),
      bold_(bold(font)),
      metrics_(font_, device),
      bold_metrics_(bold_, device),
      line_(metrics_.height()) {}

MemoryLayout MemoryPainter::layout(double width, double height) const {
    MemoryLayout layout;
    const double margin = line_ / 2;
    double table_width = names_width();
    for (const MemoryStack& stack : picture_.stacks) table_width += column_width(stack);
    const double table_height = kRow * line_ * static_cast<double>(row_names().size() + 2);
    const auto stacks = static_cast<double>(picture_.stacks.size());
    const double around = (kTitle + kAxis + kGap) * line_;
    const double bar_height =
        std::clamp(table_height / std::max(1.0, stacks) - around, kBar * line_, kMostBar * line_);
    const double bars_width = width - table_width - 2 * margin - 2.5 * line_;
    double y = margin;
    for (const MemoryStack& stack : picture_.stacks) {
        layout.bars.emplace_back(margin, y + kTitle * line_, std::max(1.0, bars_width), bar_height);
        layout.full.push_back(
            std::max({stack.capacity, stack.used + stack.capacity - stack.usable, Bytes{1}}));
        y += around + bar_height;
    }
    layout.table = QRectF(width - margin - table_width, margin, table_width, table_height);
    y = std::max(y, layout.table.bottom() + kGap * line_);

    const double lower =
        std::max(kLeastCurve * line_, height - y - (kTitle + kAxis) * line_ - margin);
    const double axis_labels = metrics_.horizontalAdvance(QStringLiteral("0000.0 GiB")) + line_ / 2;
    double split = margin;
    if (!picture_.curve.empty()) {
        split = std::round(width * kCurveShare);
        layout.curve = QRectF(margin + axis_labels, y + kTitle * line_,
                              split - 2 * line_ - margin - axis_labels, lower);
        layout.curve_full = static_cast<Bytes>(
            kRoom *
            static_cast<double>(std::max({most_memory(picture_.curve).bytes,
                                          picture_.report->plan.fit.device.peak.bytes, Bytes{1}})));
    }
    place_host(layout, {split, y + kTitle * line_, width - margin - split, lower});
    layout.height = y + (kTitle + kAxis) * line_ + lower + margin;
    return layout;
}

void MemoryPainter::place_host(MemoryLayout& layout, QRectF area) const {
    double names = 0, values = 0;
    for (const HostBar& bar : picture_.host) {
        names = std::max(names, metrics_.horizontalAdvance(bar.name));
        values = std::max(values, metrics_.horizontalAdvance(bytes(bar.bytes)));
        layout.host_full = std::max(layout.host_full, bar.bytes);
    }
    if (!picture_.report->plan.unified_memory)
        layout.host_full = std::max(layout.host_full, picture_.report->plan.fit.host.usable);
    layout.host_full = std::max<Bytes>(layout.host_full, 1);
    const auto rows = static_cast<double>(picture_.host.size());
    const double pitch = std::min(3.2 * line_, area.height() / std::max(1.0, rows));
    const double left = area.left() + names + line_ / 2;
    const double width = std::max(1.0, area.right() - left - values - 1.2 * line_);
    for (std::size_t i = 0; i < picture_.host.size(); ++i)
        layout.host.emplace_back(left, area.top() + pitch * static_cast<double>(i), width,
                                 pitch * 0.72);
}

void MemoryPainter::paint(QPainter& painter, const MemoryLayout& layout,
                          std::optional<Seconds> cursor) const {
    painter.setFont(font_);
    painter.setRenderHint(QPainter::Antialiasing, false);
    for (std::size_t i = 0; i < picture_.stacks.size(); ++i) bar(painter, layout, i);
    table(painter, layout);
    if (!picture_.curve.empty()) curve(painter, layout, cursor);
    host(painter, layout);
}

void MemoryPainter::title(QPainter& painter, QPointF at, const QString& words, const QString& more,
                          const QColor& colour) const {
    painter.setFont(bold_);
    painter.setPen(palette_.text());
    painter.drawText(QPointF(at.x(), at.y() + bold_metrics_.ascent()), words);
    painter.setFont(font_);
    painter.setPen(colour);
    painter.drawText(QPointF(at.x() + bold_metrics_.horizontalAdvance(words) + line_ / 2,
                             at.y() + metrics_.ascent()),
                     more);
}

/// Ticks are round in the unit that is shown.
double MemoryPainter::byte_tick(Bytes full, int most) const {
    const double base = units_ == ByteUnits::decimal ? 1000 : 1024;
    const double most_bytes = std::max(1.0, static_cast<double>(full));
    const double unit = std::pow(base, std::floor(std::log(most_bytes) / std::log(base)));
    return round_tick(most_bytes / unit, std::min(most, kMostTicks)) * unit;
}

}  // namespace sluice

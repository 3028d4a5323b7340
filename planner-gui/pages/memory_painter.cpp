#include "planner-gui/pages/memory_painter.h"

#include <algorithm>
#include <cmath>

#include "planner-gui/pages/hatching.h"
#include "planner-gui/pictures/timeline_layout.h"
#include "sim/report/svg_geometry.h"

namespace sluice {
namespace {

// In heights of a line.
constexpr double kTitle = 1.4, kBar = 1.9, kMostBar = 3.2, kAxis = 1.6, kGap = 0.9, kRow = 1.35;
constexpr double kLeastCurve = 9;
constexpr double kRoom = 1.12;  // above the curve's peak
constexpr double kCurveShare = 0.6;
constexpr int kMostTicks = 8;

QFont bold(QFont font) {
    font.setBold(true);
    return font;
}

}  // namespace

MemoryPicture::MemoryPicture(std::shared_ptr<const StepReport> of) : report(std::move(of)) {
    if (!report) return;
    stacks = memory_stacks(*report);
    host = host_bars(*report);
    if (report->step > 0 && report->operations.size() == report->program.operations.size())
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
                                          picture_.report->fit.device.peak.bytes, Bytes{1}})));
    }
    double names = 0, values = 0;
    for (const HostBar& bar : picture_.host) {
        names = std::max(names, metrics_.horizontalAdvance(bar.name));
        values = std::max(values, metrics_.horizontalAdvance(bytes(bar.bytes)));
        layout.host_full = std::max(layout.host_full, bar.bytes);
    }
    if (!picture_.report->unified_memory)
        layout.host_full = std::max(layout.host_full, picture_.report->fit.host.usable);
    layout.host_full = std::max<Bytes>(layout.host_full, 1);
    const double pitch = std::min(
        3.2 * line_, lower / std::max<double>(1, static_cast<double>(picture_.host.size())));
    const double left = split + names + line_ / 2;
    const double row_width = std::max(1.0, width - margin - left - values - 1.2 * line_);
    for (std::size_t i = 0; i < picture_.host.size(); ++i)
        layout.host.emplace_back(left, y + kTitle * line_ + pitch * static_cast<double>(i),
                                 row_width, pitch * 0.72);
    layout.height = y + (kTitle + kAxis) * line_ + lower + margin;
    return layout;
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

void MemoryPainter::axis(QPainter& painter, const QRectF& plot, Bytes full) const {
    // Ticks are round in the unit that is shown.
    const double base = units_ == ByteUnits::decimal ? 1000 : 1024;
    const double unit = std::pow(
        base, std::floor(std::log(std::max(1.0, static_cast<double>(full))) / std::log(base)));
    const double widest = metrics_.horizontalAdvance(QStringLiteral("0000.0 GiB")) + line_;
    const int most = std::clamp(static_cast<int>(plot.width() / widest), 1, kMostTicks);
    const double tick = round_tick(static_cast<double>(full) / unit, most) * unit;
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
        const QRectF box = box_of(segment);
        const double wide = metrics_.horizontalAdvance(segment.name) + line_ / 2;
        if (wide > box.width()) continue;
        const QRectF words(box.center() - QPointF(wide, line_ * 1.1) / 2,
                           QSizeF(wide, line_ * 1.1));
        painter.fillRect(words, fill(segment));  // legible on what is hatched
        painter.setPen(Palette::text_on(fill(segment)));
        painter.drawText(words, Qt::AlignCenter, segment.name);
    }
    if (stack.usable == 0) return;
    painter.setPen(QPen(palette_.capacity(), 3));
    painter.drawLine(QPointF(there, plot.top() - line_ * 0.25),
                     QPointF(there, plot.bottom() + line_ * 0.15));
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

void MemoryPainter::curve_axes(QPainter& painter, const MemoryLayout& layout) const {
    const QRectF& plot = layout.curve;
    const Seconds step = picture_.report->step;
    const double full = static_cast<double>(layout.curve_full);
    const double base = units_ == ByteUnits::decimal ? 1000 : 1024;
    const double unit = std::pow(base, std::floor(std::log(full) / std::log(base)));
    const int most = std::max(2, static_cast<int>(plot.height() / (2.5 * line_)));
    const double tick = round_tick(full / unit, std::min(most, kMostTicks)) * unit;
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
    const Fit::OfTier& tier = picture_.report->fit.device;
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
        curve_columns(picture_.curve, picture_.report->step, columns);
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
    for (std::size_t i = 0; !picture_.report->unified_memory && i < shown.size();) {
        const std::size_t from = i;
        while (i < shown.size() && shown[i].bytes == shown[from].bytes) ++i;
        if (shown[from].bytes <= tier.usable) continue;
        const QRectF past(QPointF(plot.left() + static_cast<double>(from), y(shown[from].bytes)),
                          QPointF(plot.left() + static_cast<double>(i), y(tier.usable)));
        hatch_as_lacking(painter, past, palette_.window(), palette_.waiting());
    }
    if (!picture_.report->unified_memory && tier.usable <= layout.curve_full) {
        painter.setPen(QPen(palette_.capacity(), 3));
        painter.drawLine(QPointF(plot.left(), y(tier.usable)),
                         QPointF(plot.right(), y(tier.usable)));
    }
    if (!cursor) return;
    const double x = plot.left() + *cursor / picture_.report->step * plot.width();
    painter.setPen(QPen(palette_.selection(), 1));
    painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
}

void MemoryPainter::host(QPainter& painter, const MemoryLayout& layout) const {
    if (layout.host.empty()) return;
    double names = 0;
    for (const HostBar& bar : picture_.host)
        names = std::max(names, metrics_.horizontalAdvance(bar.name));
    const Bytes usable = picture_.report->unified_memory ? 0 : picture_.report->fit.host.usable;
    title(painter,
          QPointF(layout.host.front().left() - names - line_ / 2,
                  layout.host.front().top() - kTitle * line_),
          QStringLiteral("host, from loading to saving"),
          picture_.report->unified_memory ? QStringLiteral("without the device's part") : QString(),
          palette_.muted());
    for (std::size_t i = 0; i < layout.host.size(); ++i) {
        const HostBar& bar = picture_.host[i];
        const QRectF& row = layout.host[i];
        const auto x = [&](Bytes count) {
            return std::round(row.left() + static_cast<double>(count) /
                                               static_cast<double>(layout.host_full) * row.width());
        };
        const double baseline = row.center().y() + metrics_.ascent() / 2 - metrics_.descent() / 2;
        painter.setPen(palette_.text());
        painter.drawText(
            QPointF(row.left() - line_ / 2 - metrics_.horizontalAdvance(bar.name), baseline),
            bar.name);
        painter.fillRect(row, palette_.plot());
        painter.fillRect(QRectF(row.topLeft(), QPointF(x(bar.bytes), row.bottom())),
                         Palette::pointed_out());
        const bool lacks = usable > 0 && bar.bytes > usable;
        if (lacks)
            hatch_as_lacking(
                painter, QRectF(QPointF(x(usable), row.top()), QPointF(x(bar.bytes), row.bottom())),
                palette_.window(), palette_.waiting());
        if (usable > 0) {
            painter.setPen(QPen(palette_.capacity(), 3));
            painter.drawLine(QPointF(x(usable), row.top() - 2),
                             QPointF(x(usable), row.bottom() + 2));
        }
        painter.setPen(lacks ? palette_.waiting() : palette_.text());
        painter.drawText(QPointF(row.right() + line_ / 2, baseline), bytes(bar.bytes));
    }
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

}  // namespace sluice

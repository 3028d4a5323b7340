#include "planner-gui/pages/timeline_painter.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "planner-gui/pages/hatching.h"
#include "sim/base/format.h"
#include "sim/report/svg_text.h"

namespace sluice {
namespace {

constexpr double kFaintest = 0.25;    // colour of several operations drawn as one
constexpr double kOutlined = 3;       // narrower blocks would be all outline
constexpr double kExposedPart = 0.3;  // of a row's height, hatched where compute waits for it

QFont bold(QFont font) {
    font.setBold(true);
    return font;
}

QString text(const std::string& words) { return QString::fromStdString(words); }

}  // namespace

TimelinePainter::TimelinePainter(const Timeline& timeline, const Palette& palette,
                                 const QFont& font, const QPaintDevice* device)
    : timeline_(timeline),
      palette_(palette),
      font_(font),
      bold_(bold(font)),
      metrics_(font_, device),
      bold_metrics_(bold_, device),
      pixel_(1 / device->devicePixelRatioF()) {}

QString TimelinePainter::row_title(const TimelineRow& row) const {
    QString title = QString::fromUtf8(lane_label(row.lane));
    if (timeline_.has_measured())
        title += row.measured_below ? QStringLiteral(" measured") : QStringLiteral(" predicted");
    return title;
}

QString TimelinePainter::row_words(const TimelineRow& row) const {
    const LaneTime& time = row.time();
    const bool compute = row.lane == Lane::compute;
    return QStringLiteral("%1 busy, %2 %3")
        .arg(text(format_percent(time.busy / row.report->step.seconds)),
             text(format_percent((compute ? time.idle : time.exposed) / row.report->step.seconds)),
             compute ? QStringLiteral("waits") : QStringLiteral("exposed"));
}

std::vector<LegendEntry> TimelinePainter::legend() const {
    std::array<bool, kFamilyCount> used{};
    for (const TimelineRow& row : timeline_.rows())
        for (const Block& block : row.blocks) used[static_cast<std::size_t>(block.family)] = true;
    std::vector<LegendEntry> entries;
    for (int i = 0; i < kFamilyCount; ++i) {
        const auto family = static_cast<Family>(i);
        if (used[static_cast<std::size_t>(i)])
            entries.push_back(
                {QString::fromUtf8(family_colours(family).name), Palette::family(family)});
    }
    entries.push_back({QStringLiteral("compute waits; at a lane's foot: for that lane"),
                       palette_.waiting(), true});
    return entries;
}

TimelineLayout TimelinePainter::layout(double width, double height) const {
    double labels = 0;
    for (const TimelineRow& row : timeline_.rows())
        labels = std::max({labels, bold_metrics_.horizontalAdvance(row_title(row)),
                           metrics_.horizontalAdvance(row_words(row))});
    const double line = metrics_.height();
    const double left = std::ceil(labels + 1.5 * line);
    return timeline_layout(timeline_, width, height, left, line,
                           legend_height(legend(), metrics_, width - line));
}

void TimelinePainter::paint(QPainter& painter, const TimelineLayout& layout, const TimeView& view,
                            std::optional<TimelinePlace> selected,
                            std::optional<TimelinePlace> hovered, bool focused) const {
    painter.setFont(font_);
    painter.setRenderHint(QPainter::Antialiasing, false);
    for (std::size_t row = 0; row < timeline_.rows().size(); ++row) label(painter, layout, row);
    painter.save();
    painter.setClipRect(QRectF(layout.plot_left, 0, layout.plot_width, layout.axis_y + 1));
    for (std::size_t row = 0; row < timeline_.rows().size(); ++row) {
        const double step = timeline_.rows()[row].report->step.seconds;
        const double right = std::min(view.time_to_x(step), view.left + view.width);
        painter.fillRect(QRectF(layout.plot_left, layout.row_tops[row], right - layout.plot_left,
                                layout.row_height),
                         palette_.plot());
    }
    painter.restore();
    axis(painter, layout, view);
    painter.setClipRect(QRectF(layout.plot_left, 0, layout.plot_width, layout.axis_y));
    for (std::size_t row = 0; row < timeline_.rows().size(); ++row) {
        blocks(painter, layout, view, row);
        waits(painter, layout, view, row);
    }
    if (hovered && hovered != selected)
        outline(painter, layout, view, *hovered, QPen(palette_.muted(), 1));
    if (selected) {
        dependency(painter, layout, view, *selected);
        outline(painter, layout, view, *selected, QPen(palette_.selection(), focused ? 3 : 2));
    }
    painter.setClipping(false);
    const double margin = metrics_.height() / 2;
    paint_legend(painter, legend(), QPointF(margin, layout.legend_y),
                 layout.plot_left + layout.plot_width - margin, palette_.text());
}

void TimelinePainter::label(QPainter& painter, const TimelineLayout& layout,
                            std::size_t row) const {
    const TimelineRow& of = timeline_.rows()[row];
    const double x = metrics_.height() / 2;
    const double top =
        layout.row_tops[row] + std::max(0.0, (layout.row_height - 2 * metrics_.height()) / 2);
    painter.setPen(palette_.text());
    painter.setFont(bold_);
    painter.drawText(QPointF(x, top + bold_metrics_.ascent()), row_title(of));
    painter.setFont(font_);
    const bool waits = of.lane == Lane::compute
                           ? of.time().idle > 0.01 * of.report->step.seconds
                           : of.time().exposed > 0.01 * of.report->step.seconds;
    painter.setPen(waits ? palette_.waiting() : palette_.muted());
    painter.drawText(QPointF(x, top + metrics_.height() + metrics_.ascent()), row_words(of));
}

void TimelinePainter::axis(QPainter& painter, const TimelineLayout& layout,
                           const TimeView& view) const {
    const double widest = metrics_.horizontalAdvance(QStringLiteral("0000000.0"));
    const TimeTicks ticks =
        time_ticks(view.begin, view.end, std::max(2, static_cast<int>(view.width / widest)));
    const double baseline = layout.axis_y + 0.4 * metrics_.height() + metrics_.ascent();
    for (const TimeTick& tick : ticks.ticks) {
        const double x = std::round(view.time_to_x(tick.time));
        painter.setPen(palette_.grid());
        painter.drawLine(QPointF(x, layout.row_tops.front()),
                         QPointF(x, layout.axis_y + 0.3 * metrics_.height()));
        painter.setPen(palette_.muted());
        const QString words = text(tick.label);
        const double wide = metrics_.horizontalAdvance(words);
        const double right = layout.plot_left + layout.plot_width + metrics_.height() * 0.9;
        painter.drawText(QPointF(std::min(x - wide / 2, right - wide), baseline), words);
    }
    painter.setPen(palette_.muted());
    painter.drawText(QPointF(metrics_.height() / 2, baseline),
                     QStringLiteral("time in %1").arg(QString::fromUtf8(ticks.unit)));
}

TimelinePainter::Extent TimelinePainter::extent(const TimelineLayout& layout, const TimeView& view,
                                                Seconds start, Seconds end) const {
    const double from = std::max(view.time_to_x(start), layout.plot_left - kOutlined);
    const double to =
        std::min(view.time_to_x(end), layout.plot_left + layout.plot_width + kOutlined);
    // On whole pixels of the device, or neighbours would show the ground between them.
    const double x = std::round(from / pixel_) * pixel_;
    return {x, std::max(pixel_, std::round(to / pixel_) * pixel_ - x)};
}

void TimelinePainter::blocks(QPainter& painter, const TimelineLayout& layout, const TimeView& view,
                             std::size_t row) const {
    const TimedPlan& report = *timeline_.rows()[row].report;
    const double top = layout.row_tops[row], height = layout.row_height;
    const double size = font_.pixelSize() > 0 ? font_.pixelSize() : metrics_.height() * 0.8;
    const std::vector<Block> shown =
        timeline_.visible(row, view.begin, view.end, view.seconds_of(pixel_));
    for (const Block& block : shown) {
        const auto [x, wide] = extent(layout, view, block.start, block.end);
        const double share = block.busy / (block.end - block.start);
        const QColor fill = mix(palette_.plot(), Palette::family(block.family),
                                share < 0.99 ? std::max(share, kFaintest) : 1);
        const bool outlined = wide >= kOutlined;
        painter.fillRect(QRectF(x, top, outlined ? wide - pixel_ : wide, height), fill);
        const std::string inside = text_inside(report, block, size, wide - 4);
        if (inside.empty()) continue;
        const QString words = text(inside);
        const double room = wide - metrics_.horizontalAdvance(words);
        if (room < 2) continue;
        painter.setPen(Palette::family_text(block.family));
        painter.drawText(
            QPointF(x + room / 2, top + (height - metrics_.height()) / 2 + metrics_.ascent()),
            words);
    }
}

void TimelinePainter::waits(QPainter& painter, const TimelineLayout& layout, const TimeView& view,
                            std::size_t row) const {
    const bool compute = timeline_.rows()[row].lane == Lane::compute;
    const double height =
        compute ? layout.row_height : std::round(layout.row_height * kExposedPart);
    const double top = layout.row_tops[row] + layout.row_height - height;
    for (const WaitBlock& wait :
         timeline_.visible_waits(row, view.begin, view.end, view.seconds_of(pixel_))) {
        const auto [x, wide] = extent(layout, view, wait.start, wait.end);
        const QRectF box(x, top, wide, height);
        if (wide < kOutlined) {
            painter.fillRect(box, palette_.waiting());
            continue;
        }
        painter.fillRect(box, palette_.window());
        hatch(painter, box, palette_.waiting());
        painter.setPen(palette_.waiting());
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(box.adjusted(0, 0, -1, -1));
    }
}

void TimelinePainter::outline(QPainter& painter, const TimelineLayout& layout, const TimeView& view,
                              TimelinePlace place, const QPen& pen) const {
    const Block& block = timeline_.block(place);
    const double x = std::max(view.time_to_x(block.start), layout.plot_left - 2 * kOutlined);
    const double end =
        std::min(view.time_to_x(block.end), layout.plot_left + layout.plot_width + 2 * kOutlined);
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    const double half = pen.widthF() / 2;
    painter.drawRect(QRectF(x, layout.row_tops[place.row] + half, std::max(2.0, end - x),
                            layout.row_height - 2 * half));
}

void TimelinePainter::dependency(QPainter& painter, const TimelineLayout& layout,
                                 const TimeView& view, TimelinePlace selected) const {
    const TimelineRow& row = timeline_.rows()[selected.row];
    const OperationId cause = last_wait(*row.report, timeline_.operation(selected));
    if (cause < 0) return;
    const Lane lane = row.operation(cause).lane;
    for (std::size_t i = 0; i < timeline_.rows().size(); ++i) {
        const TimelineRow& other = timeline_.rows()[i];
        if (other.lane != lane || other.report != row.report) continue;
        const auto at = std::ranges::find_if(
            other.blocks, [&](const Block& block) { return block.first == cause; });
        if (at == other.blocks.end()) return;
        const TimelinePlace place{i, static_cast<std::size_t>(at - other.blocks.begin())};
        outline(painter, layout, view, place, QPen(palette_.selection(), 2, Qt::DotLine));
        const Block& to = timeline_.block(selected);
        if (at->end > to.start) return;  // of the step before
        const double middle = layout.row_height / 2;
        painter.setPen(QPen(palette_.selection(), 1, Qt::DashLine));
        painter.drawLine(QPointF(view.time_to_x(at->end), layout.row_tops[i] + middle),
                         QPointF(view.time_to_x(to.start), layout.row_tops[selected.row] + middle));
        return;
    }
}

}  // namespace sluice

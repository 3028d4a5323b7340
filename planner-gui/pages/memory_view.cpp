#include "planner-gui/pages/memory_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "planner-gui/pages/page_parts.h"
#include "sim/base/format.h"

namespace sluice {
namespace {

constexpr double kStepOfKey = 0.01;  // of the step

QString share_text(Bytes bytes, Bytes of) {
    return QString::fromStdString(
        format_percent(static_cast<double>(bytes) / static_cast<double>(std::max<Bytes>(of, 1))));
}

}  // namespace

MemoryView::MemoryView(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(tr("Memory of device and host"));
}

void MemoryView::set_report(const std::shared_ptr<const TimedPlan>& report) {
    picture_ = MemoryPicture(report);
    cursor_.reset();
    describe();
}

void MemoryView::set_byte_units(ByteUnits units) {
    units_ = units;
    describe();
}

void MemoryView::describe() {
    QString words;
    for (const MemoryStack& stack : picture_.stacks)
        words += QStringLiteral("%1: %2. ").arg(stack.name, stack.words(units_));
    setAccessibleDescription(
        words + tr("Left and right move along the curve of a step and say what the device holds."));
    updateGeometry();
    update();
}

MemoryLayout MemoryView::layout_now() const {
    const Palette palette(this->palette());
    return MemoryPainter(picture_, palette, units_, font(), this).layout(width(), height());
}

QSize MemoryView::minimumSizeHint() const {
    const double line = QFontMetricsF(font()).height();
    const int wide = static_cast<int>(40 * line);
    if (picture_.empty()) return {wide, static_cast<int>(10 * line)};
    const Palette palette(this->palette());
    return {wide,
            static_cast<int>(std::ceil(
                MemoryPainter(picture_, palette, units_, font(), this).layout(wide, 0).height))};
}

QSize MemoryView::sizeHint() const { return minimumSizeHint(); }

QString MemoryView::tooltip_at(QPointF position) const {
    if (picture_.empty()) return {};
    const MemoryLayout layout = layout_now();
    for (std::size_t i = 0; i < layout.bars.size(); ++i) {
        const QRectF& bar = layout.bars[i];
        if (!bar.contains(position)) continue;
        const double share = (position.x() - bar.left()) / bar.width();
        return facts_html(facts_of(
            picture_.stacks[i], static_cast<Bytes>(share * static_cast<double>(layout.full[i]))));
    }
    for (std::size_t i = 0; i < layout.host.size(); ++i) {
        if (!layout.host[i].contains(position)) continue;
        const HostBar& bar = picture_.host[i];
        Facts facts{bar.name, {{tr("host"), bytes(bar.bytes)}}};
        if (!bar.what.isEmpty()) facts.facts.push_back({tr("beyond the steady state"), bar.what});
        return facts_html(facts);
    }
    const auto time = layout.time_at(position, picture_.report->step.seconds);
    return time ? facts_html(facts_at(*time)) : QString();
}

Facts MemoryView::facts_of(const MemoryStack& stack, Bytes at) const {
    for (const MemorySegment& segment : stack.segments)
        if (at >= segment.from && at < segment.from + segment.bytes)
            return {segment.name,
                    {{stack.name, bytes(segment.bytes)},
                     {tr("of all"), share_text(segment.bytes, stack.used)}}};
    if (stack.usable > 0 && at > stack.usable)
        return {tr("not for the plan"),
                {{tr("CUDA context, system, or beyond a budget"),
                  bytes(stack.capacity - stack.usable)}}};
    return {tr("free"), {{stack.name, bytes(stack.usable - stack.used)}}};
}

Facts MemoryView::facts_at(Seconds time) const {
    const MemoryMoment& moment = moment_at(picture_.curve, time);
    Facts facts{tr("at %1").arg(QString::fromStdString(format_seconds(time))), {}};
    for (int i = kMemoryKindCount - 1; i >= 0; --i) {
        const Bytes of_kind = moment.by_kind[static_cast<std::size_t>(i)];
        if (of_kind > 0)
            facts.facts.push_back(
                {QString::fromUtf8(memory_kind_name(static_cast<MemoryKind>(i))), bytes(of_kind)});
    }
    facts.facts.push_back({tr("all"), bytes(moment.bytes)});
    return facts;
}

void MemoryView::set_cursor(std::optional<Seconds> time) {
    if (time == cursor_) return;
    cursor_ = time;
    update();
}

void MemoryView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Palette palette(this->palette());
    painter.fillRect(rect(), palette.window());
    if (picture_.empty()) {
        painter.setPen(palette.muted());
        painter.drawText(rect(), Qt::AlignCenter, tr("No plan to show yet."));
        return;
    }
    const MemoryPainter paint(picture_, palette, units_, font(), this);
    paint.paint(painter, paint.layout(width(), height()), cursor_);
    if (!hasFocus()) return;
    painter.setPen(palette.axis());
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

void MemoryView::mouseMoveEvent(QMouseEvent* event) {
    if (picture_.empty()) return;
    set_cursor(layout_now().time_at(event->position(), picture_.report->step.seconds));
}

void MemoryView::leaveEvent(QEvent*) { set_cursor(std::nullopt); }

void MemoryView::keyPressEvent(QKeyEvent* event) {
    const bool right = event->key() == Qt::Key_Right;
    if (picture_.curve.empty() || (!right && event->key() != Qt::Key_Left))
        return QWidget::keyPressEvent(event);
    const Seconds step = picture_.report->step.seconds;
    const Seconds from = cursor_.value_or(right ? -kStepOfKey * step : step);
    set_cursor(std::clamp(from + (right ? kStepOfKey : -kStepOfKey) * step, 0.0, step * 0.9999));
    const MemoryLayout layout = layout_now();
    const QPointF at(layout.curve.left() + *cursor_ / step * layout.curve.width(),
                     layout.curve.center().y());
    const QString words = tooltip_at(at);
    QToolTip::showText(mapToGlobal(at.toPoint()), words, this);
}

void MemoryView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) updateGeometry();
    update();
}

bool MemoryView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* const help = static_cast<QHelpEvent*>(event);
    show_tooltip(*help, tooltip_at(help->pos()), this);
    return true;
}

}  // namespace sluice

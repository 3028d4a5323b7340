#include "planner-gui/pages/scatter_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "planner-gui/pages/legend.h"
#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pictures/palette.h"

namespace sluice {

ScatterView::ScatterView(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Predicted over measured tokens per second"));
    setFocusPolicy(Qt::StrongFocus);
}

void ScatterView::setValidation(std::shared_ptr<const Validation> validation) {
    validation_ = validation && !validation->runs.empty() ? std::move(validation) : nullptr;
    selected_ = -1;
    place();
}

void ScatterView::setSelected(int run) {
    const int runs = validation_ ? static_cast<int>(validation_->runs.size()) : 0;
    if (run < -1 || run >= runs || run == selected_) return;
    selected_ = run;
    if (run >= 0)
        setAccessibleDescription(run_tooltip(validation_->runs[static_cast<std::size_t>(run)]));
    update();
    Q_EMIT selectionChanged(run);
}

QSize ScatterView::sizeHint() const {
    const int side = 28 * fontMetrics().height();
    return {side, side};
}

QSize ScatterView::minimumSizeHint() const {
    const int side = 10 * fontMetrics().height();
    return {side, side};
}

std::vector<LegendEntry> ScatterView::legend() const {
    std::vector<LegendEntry> entries;
    if (!validation_) return entries;
    for (const std::string& name : group_names(validation_->runs))
        entries.push_back({QString::fromStdString(name),
                           Palette::series(static_cast<int>(entries.size())), false});
    entries.push_back({tr("dashed: 5% more and less"), Palette(palette()).muted(), false});
    return entries;
}

void ScatterView::place() {
    const QFontMetricsF metrics(font());
    const double below = legend_height(legend(), metrics, legendWidth()) + metrics.height() / 2;
    layout_ = validation_
                  ? place_scatter(*validation_, rect().toRectF().adjusted(0, 0, 0, -below), metrics)
                  : ScatterLayout();
    update();
}

double ScatterView::legendWidth() const { return width() - fontMetrics().height(); }

void ScatterView::resizeEvent(QResizeEvent*) { place(); }

void ScatterView::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange) place();
    QWidget::changeEvent(event);
}

void ScatterView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(rect(), Palette(palette()).window());
    if (!validation_) return;
    paintAxes(painter);
    paintPoints(painter);
    paintLegend(painter);
}

void ScatterView::paintAxes(QPainter& painter) const {
    const Palette colours(palette());
    const QRectF& plot = layout_.plot;
    const double line = QFontMetricsF(font()).height();
    for (const ScatterTick& tick : layout_.ticks) {
        painter.setPen(colours.grid());
        painter.drawLine(QLineF(tick.x, plot.top(), tick.x, plot.bottom()));
        painter.drawLine(QLineF(plot.left(), tick.y, plot.right(), tick.y));
        painter.setPen(colours.muted());
        painter.drawText(QRectF(tick.x - 4 * line, plot.bottom() + 0.2 * line, 8 * line, line),
                         Qt::AlignCenter, tick.named_below ? tick.text : QString());
        painter.drawText(QRectF(plot.left() - 8.4 * line, tick.y - line, 8 * line, 2 * line),
                         Qt::AlignRight | Qt::AlignVCenter,
                         tick.named_left ? tick.text : QString());
    }
    painter.setPen(colours.axis());
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(plot);
    painter.drawLine(layout_.exact);
    painter.setPen(QPen(colours.muted(), 1, Qt::DashLine));
    painter.drawLine(layout_.above);
    painter.drawLine(layout_.below);
    painter.setPen(colours.text());
    painter.drawText(QRectF(plot.left(), plot.bottom() + 1.4 * line, plot.width(), 1.2 * line),
                     Qt::AlignCenter | Qt::TextDontClip, tr("measured tokens/s"));
    double widest = 0;
    for (const ScatterTick& tick : layout_.ticks)
        widest = std::max(widest, QFontMetricsF(font()).horizontalAdvance(tick.text));
    painter.save();
    painter.translate(plot.left() - widest - 1.6 * line, plot.center().y());
    painter.rotate(-90);
    painter.drawText(QRectF(-plot.height() / 2, -0.6 * line, plot.height(), 1.2 * line),
                     Qt::AlignCenter | Qt::TextDontClip, tr("predicted tokens/s"));
    painter.restore();
}

void ScatterView::paintPoints(QPainter& painter) const {
    const Palette colours(palette());
    for (const ScatterPoint& point : layout_.points) {
        painter.setPen(QPen(colours.window(), 1));
        painter.setBrush(Palette::series(point.group));
        painter.drawEllipse(point.at, layout_.radius, layout_.radius);
    }
    for (const ScatterPoint& point : layout_.points) {
        if (point.run != selected_) continue;
        painter.setPen(QPen(colours.selection(), 2));
        painter.setBrush(Palette::series(point.group));
        painter.drawEllipse(point.at, 1.6 * layout_.radius, 1.6 * layout_.radius);
    }
}

/// Below the picture, as high as it is; points may lie anywhere in it.
void ScatterView::paintLegend(QPainter& painter) const {
    const double line = QFontMetricsF(font()).height();
    paint_legend(painter, legend(), QPointF(line / 2, layout_.plot.bottom() + 3 * line),
                 legendWidth(), Palette(palette()).text());
}

void ScatterView::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) setSelected(run_at(layout_, event->position()));
}

void ScatterView::mouseDoubleClickEvent(QMouseEvent* event) {
    const int run = run_at(layout_, event->position());
    if (run >= 0) Q_EMIT activated(run);
}

/// From left to right.
void ScatterView::keyPressEvent(QKeyEvent* event) {
    std::vector<ScatterPoint> order = layout_.points;
    std::ranges::stable_sort(order, {}, [](const ScatterPoint& one) { return one.at.x(); });
    const auto now = std::ranges::find(order, selected_, &ScatterPoint::run);
    const int at = now == order.end() ? -1 : static_cast<int>(now - order.begin());
    if (const auto next =
            selected_by_key(event->key(), at, static_cast<int>(order.size()), Qt::Horizontal))
        setSelected(order[static_cast<std::size_t>(*next)].run);
    else if (selected_ >= 0 && is_activating(event->key()))
        Q_EMIT activated(selected_);
    else
        QWidget::keyPressEvent(event);
}

bool ScatterView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto& help = *static_cast<QHelpEvent*>(event);
    const int run = run_at(layout_, help.pos());
    show_tooltip(
        help, run < 0 ? QString() : run_tooltip(validation_->runs[static_cast<std::size_t>(run)]),
        this);
    return true;
}

}  // namespace sluice

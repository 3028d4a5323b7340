#include "planner-gui/pages/bar_chart_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pictures/palette.h"

namespace sluice {
namespace {

QColor fill_of(const Palette& colours, BarColour colour) {
    switch (colour) {
        case BarColour::pointed_out:
            return Palette::pointed_out();
        case BarColour::other:
            return Palette::other();
        case BarColour::grey:
            break;
    }
    return colours.misfit();
}

}  // namespace

BarChartView::BarChartView(const QString& accessible_name, QWidget* parent) : QWidget(parent) {
    setAccessibleName(accessible_name);
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
    setSizePolicy(policy);
}

void BarChartView::setChart(BarChart chart) {
    chart_ = std::move(chart);
    if (selected_ >= static_cast<int>(chart_.bars.size())) selected_ = -1;
    place();
}

void BarChartView::setSelected(int bar) {
    if (bar < -1 || bar >= static_cast<int>(chart_.bars.size()) || bar == selected_) return;
    selected_ = bar;
    if (bar >= 0) setAccessibleDescription(chart_.bars[static_cast<std::size_t>(bar)].tooltip);
    update();
    Q_EMIT selectionChanged(bar);
}

QSize BarChartView::sizeHint() const {
    return {static_cast<int>(40 * QFontMetricsF(font()).height()),
            static_cast<int>(std::ceil(layout_.height))};
}

void BarChartView::place() {
    layout_ = place_bars(chart_, width(), QFontMetricsF(font()));
    setMinimumHeight(static_cast<int>(std::ceil(layout_.height)));
    updateGeometry();
    update();
}

void BarChartView::resizeEvent(QResizeEvent*) { place(); }

void BarChartView::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange) place();
    QWidget::changeEvent(event);
}

void BarChartView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Palette colours(palette());
    painter.fillRect(rect(), colours.window());
    const double line = QFontMetricsF(font()).height();
    for (const BarTick& tick : layout_.ticks) {
        const bool zero = std::abs(tick.x - layout_.zero) < 0.5;
        painter.setPen(zero ? colours.axis() : colours.grid());
        painter.drawLine(QLineF(tick.x, layout_.plot.top(), tick.x, layout_.plot.bottom()));
        painter.setPen(colours.muted());
        painter.drawText(QRectF(tick.x - 3 * line, layout_.plot.bottom(), 6 * line, 1.5 * line),
                         Qt::AlignCenter, tick.text);
    }
    for (int i = 0; i < static_cast<int>(chart_.bars.size()); ++i) paintBar(painter, i);
}

void BarChartView::paintBar(QPainter& painter, int at) const {
    const Palette colours(palette());
    const Bar& bar = chart_.bars[static_cast<std::size_t>(at)];
    const PlacedBar& placed = layout_.bars[static_cast<std::size_t>(at)];
    const QFontMetricsF metrics(font());
    painter.fillRect(placed.bar, fill_of(colours, bar.colour));
    painter.setPen(colours.text());
    painter.drawText(placed.name, Qt::AlignRight | Qt::AlignVCenter,
                     metrics.elidedText(bar.name, Qt::ElideRight, placed.name.width()));
    if (!placed.band.isNull()) {
        painter.setPen(QPen(colours.text(), std::max(1.0, metrics.height() / 12)));
        painter.drawLine(placed.band);
        const double cap = metrics.height() / 4;
        for (const QPointF end : {placed.band.p1(), placed.band.p2()})
            painter.drawLine(end - QPointF(0, cap), end + QPointF(0, cap));
    }
    const bool fits = bar.misfit.isEmpty();
    const QString words =
        metrics.elidedText(fits ? bar.label : bar.misfit, Qt::ElideRight, placed.label.width());
    // What does not fit is said on its own bar and beyond it.
    const bool on_bar = !fits && placed.label.left() < placed.bar.right();
    painter.setPen(on_bar ? Palette::text_on(fill_of(colours, bar.colour)) : colours.text());
    if (on_bar && metrics.horizontalAdvance(words) > placed.bar.right() - placed.label.left()) {
        QRectF beyond = placed.label;
        beyond.setLeft(placed.bar.right() + metrics.height() / 2);
        painter.setPen(colours.text());
        painter.drawText(beyond, Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(bar.misfit, Qt::ElideRight, beyond.width()));
    } else {
        painter.drawText(placed.label, Qt::AlignLeft | Qt::AlignVCenter, words);
    }
    if (at != selected_) return;
    painter.setPen(QPen(colours.selection(), hasFocus() ? 2 : 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(placed.row.adjusted(1, 1, -1, -1));
}

void BarChartView::mousePressEvent(QMouseEvent* event) {
    const int bar = bar_at(layout_, event->position());
    if (bar >= 0 && event->button() == Qt::LeftButton) setSelected(bar);
}

void BarChartView::mouseDoubleClickEvent(QMouseEvent* event) {
    const int bar = bar_at(layout_, event->position());
    if (bar >= 0 && event->button() == Qt::LeftButton) Q_EMIT activated(bar);
}

void BarChartView::mouseMoveEvent(QMouseEvent* event) {
    setCursor(bar_at(layout_, event->position()) >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void BarChartView::keyPressEvent(QKeyEvent* event) {
    const int count = static_cast<int>(chart_.bars.size());
    if (const auto bar = selected_by_key(event->key(), selected_, count, Qt::Vertical))
        setSelected(*bar);
    else if (selected_ >= 0 && is_activating(event->key()))
        Q_EMIT activated(selected_);
    else
        QWidget::keyPressEvent(event);
}

bool BarChartView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto& help = *static_cast<QHelpEvent*>(event);
    const int bar = bar_at(layout_, help.pos());
    QString words;
    if (bar >= 0) {
        const Bar& one = chart_.bars[static_cast<std::size_t>(bar)];
        words = one.tooltip + (one.misfit.isEmpty() ? QString() : QLatin1Char('\n') + one.misfit);
    }
    show_tooltip(help, words, this);
    return true;
}

}  // namespace sluice

#include "planner-gui/pages/pareto_chart.h"

#include <QGraphicsLayout>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QtCharts/QCategoryAxis>
#include <QtCharts/QChart>
#include <QtCharts/QLegend>
#include <QtCharts/QLegendMarker>
#include <QtCharts/QLineSeries>
#include <QtCharts/QScatterSeries>
#include <algorithm>

#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pictures/label_places.h"
#include "planner-gui/pictures/palette.h"

namespace sluice {
namespace {

constexpr std::size_t kMostNames = 80;  // more would cover the points, and take long to place

/// Blue of Okabe and Ito; on dark ground their sky blue.
QColor front_colour(const QPalette& palette) {
    return Palette(palette).is_dark() ? colour(kSkyBlue) : Palette::pointed_out();
}

/// The machine, and below it the system.
QString folded_name(QString name) {
    return name.replace(QStringLiteral(", "), QStringLiteral(",\n"));
}

}  // namespace

ParetoChart::ParetoChart(QWidget* parent) : QChartView(parent) {
    front_ = new QLineSeries;
    best_ = new QScatterSeries;
    beaten_ = new QScatterSeries;
    x_ = new QCategoryAxis;
    y_ = new QCategoryAxis;
    front_->setName(tr("the front"));
    best_->setName(tr("none is faster for less"));
    beaten_->setName(tr("beaten"));
    chart()->addSeries(front_);
    chart()->addSeries(beaten_);
    chart()->addSeries(best_);
    chart()->addAxis(x_, Qt::AlignBottom);
    chart()->addAxis(y_, Qt::AlignLeft);
    for (QXYSeries* const series : {static_cast<QXYSeries*>(front_), static_cast<QXYSeries*>(best_),
                                    static_cast<QXYSeries*>(beaten_)}) {
        series->attachAxis(x_);
        series->attachAxis(y_);
    }
    for (QCategoryAxis* const axis : {x_, y_})
        axis->setLabelsPosition(QCategoryAxis::AxisLabelsPositionOnValue);
    chart()->legend()->markers(front_).first()->setVisible(false);
    chart()->legend()->setMarkerShape(QLegend::MarkerShapeFromSeries);
    chart()->legend()->setAlignment(Qt::AlignTop);
    chart()->legend()->setContentsMargins(0, 0, 0, 0);
    chart()->legend()->layout()->setContentsMargins(0, 0, 0, 0);
    chart()->setBackgroundRoundness(0);
    const int margin = fontMetrics().height() / 2;
    chart()->setMargins(QMargins(margin, margin, margin, margin));
    chart()->layout()->setContentsMargins(0, 0, 0, 0);
    setRenderHint(QPainter::Antialiasing);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Speed over cost"));
    applyPalette();
}

QSize ParetoChart::minimumSizeHint() const {
    const int line = fontMetrics().height();
    return {24 * line, 10 * line};
}

double ParetoChart::radius() const { return 0.35 * fontMetrics().height(); }

void ParetoChart::setRows(const std::vector<ParetoRow>& rows, CostAxis axis) {
    rows_ = rows;
    axis_ = axis;
    on_front_ = on_front(rows, axis);
    names_.clear();
    for (const std::string& name : row_names(rows)) names_.push_back(QString::fromStdString(name));
    order_ = by_cost(rows, axis);
    cost_ = cost_axis(rows, axis);
    speed_ = speed_axis(rows);
    QList<QPointF> front, best, beaten;
    for (const std::size_t row : order_) {
        const QPointF point(cost_.position(cost_of(rows[row], axis)),
                            speed_.position(rows[row].tokens_per_s()));
        if (on_front_[row]) front << point;
        (on_front_[row] ? best : beaten) << point;
    }
    front_->replace(front);
    best_->replace(best);
    beaten_->replace(beaten);
    fillAxis(x_, cost_, cost_name(axis));
    fillAxis(y_, speed_, tr("tokens/s"));
    chart()->legend()->setVisible(!order_.empty());
    if (selected_ && (*selected_ >= rows.size() || !rows[*selected_].is_plotted()))
        selected_.reset();
    viewport()->update();
}

void ParetoChart::fillAxis(QCategoryAxis* axis, const PlotAxis& values, const QString& title) {
    for (const QString& label : axis->categoriesLabels()) axis->remove(label);
    axis->setRange(values.position(values.low), values.position(values.high));
    for (const PlotAxis::Tick& tick : values.ticks)
        axis->append(tick.label, values.position(tick.value));
    axis->setTitleText(values.logarithmic ? tr("%1 (logarithmic)").arg(title) : title);
    axis->setVisible(!order_.empty());  // without labels the titles would lie on each other
}

void ParetoChart::applyPalette() {
    const QColor text = Palette(palette()).text(), blue = front_colour(palette());
    QColor grid = text;
    grid.setAlphaF(0.15F);
    chart()->setBackgroundBrush(Palette(palette()).window());
    setBackgroundBrush(Palette(palette()).window());
    chart()->legend()->setLabelColor(text);
    chart()->legend()->setFont(font());
    for (QCategoryAxis* const axis : {x_, y_}) {
        axis->setLabelsBrush(text);
        axis->setTitleBrush(text);
        axis->setLabelsFont(font());
        axis->setTitleFont(font());
        axis->setGridLineColor(grid);
        axis->setLinePenColor(Palette(palette()).beaten());
    }
    front_->setPen(QPen(blue, radius() / 4));
    best_->setColor(blue);
    beaten_->setColor(Palette(palette()).beaten());
    for (QScatterSeries* const series : {best_, beaten_}) {
        series->setMarkerSize(2 * radius());
        series->setBorderColor(Palette(palette()).window());
    }
    beaten_->setMarkerShape(QScatterSeries::MarkerShapeRectangle);
    beaten_->setMarkerSize(1.5 * radius());
}

void ParetoChart::changeEvent(QEvent* event) {
    QChartView::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        applyPalette();
}

QPointF ParetoChart::place(std::size_t row) const {
    const QPointF value(cost_.position(cost_of(rows_[row], axis_)),
                        speed_.position(rows_[row].tokens_per_s()));
    const QPointF in_scene = chart()->mapToScene(chart()->mapToPosition(value, best_));
    return mapFromScene(in_scene);
}

std::optional<std::size_t> ParetoChart::rowAt(QPointF place) const {
    std::vector<QPointF> points;
    for (const std::size_t row : order_) points.push_back(this->place(row));
    const auto nearest = nearest_point(points, place, 2.5 * radius());
    return nearest ? std::optional(order_[*nearest]) : std::nullopt;
}

void ParetoChart::select(std::optional<std::size_t> row) {
    if (row && (*row >= rows_.size() || !rows_[*row].is_plotted())) row.reset();
    if (row == selected_) return;
    selected_ = row;
    viewport()->update();
    if (row) setAccessibleDescription(row_lines(rows_[*row], units_).join(QStringLiteral("; ")));
    Q_EMIT selectionChanged();
}

QLineF ParetoChart::band(std::size_t row) const {
    const ParetoRow& r = rows_[row];
    const double x = cost_.position(cost_of(r, axis_));
    const auto at = [&](Seconds step) {
        return chart()->mapToScene(
            chart()->mapToPosition(QPointF(x, speed_.position(r.tokens_per_s_at(step))), best_));
    };
    return {at(r.step_low), at(r.step_high)};
}

void ParetoChart::paintBands(QPainter& painter) const {
    for (const std::size_t row : order_) {
        if (!rows_[row].has_band()) continue;
        QColor colour = on_front_[row] ? front_colour(palette()) : Palette(palette()).beaten();
        colour.setAlphaF(0.45F);
        painter.setPen(QPen(colour, radius() / 5));
        painter.drawLine(band(row));
    }
}

/// Bands, and the front.
std::vector<QLineF> ParetoChart::lines() const {
    std::vector<QLineF> out;
    std::optional<QPointF> before;
    for (const std::size_t row : order_) {
        if (rows_[row].has_band()) out.push_back(band(row));
        if (!on_front_[row]) continue;
        const QPointF now = mapToScene(place(row).toPoint());
        if (before) out.emplace_back(*before, now);
        before = now;
    }
    return out;
}

void ParetoChart::paintNames(QPainter& painter) const {
    const QFontMetricsF metrics(font());
    // Those on the front get the better places, the dearest first, as there is less room at the
    // border.
    std::vector<std::size_t> rows(order_.rbegin(), order_.rend());
    std::stable_partition(rows.begin(), rows.end(), [&](std::size_t i) { return on_front_[i]; });
    if (rows.size() > kMostNames) rows.resize(kMostNames);
    std::vector<LabelledPoint> points;
    std::vector<QPointF> dots;
    for (const std::size_t row : order_) dots.push_back(mapToScene(place(row).toPoint()));
    for (const std::size_t row : rows) {
        const QSizeF folded = metrics.size(0, folded_name(names_[row]));
        points.push_back({mapToScene(place(row).toPoint()),
                          QSizeF(metrics.horizontalAdvance(names_[row]) + 2, metrics.height()),
                          folded + QSizeF(2, 0)});
    }
    const QRectF plot = chart()->mapRectToScene(chart()->plotArea());
    const auto places = label_places(points, plot, 1.1 * radius(), dots, lines());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!places[i]) continue;
        QColor ink = Palette(palette()).text();
        if (!on_front_[rows[i]]) ink.setAlphaF(0.75F);
        const QString& name = names_[rows[i]];
        const bool folded = places[i]->size() != points[i].label;
        QPainterPath letters;
        QPointF start = places[i]->topLeft() + QPointF(1, metrics.ascent());
        for (const QString& line : (folded ? folded_name(name) : name).split(QLatin1Char('\n'))) {
            letters.addText(start, font(), line);
            start.ry() += metrics.lineSpacing();
        }
        painter.strokePath(letters, QPen(Palette(palette()).window(), radius() / 2, Qt::SolidLine,
                                         Qt::RoundCap, Qt::RoundJoin));
        painter.fillPath(letters, ink);
    }
}

void ParetoChart::drawForeground(QPainter* painter, const QRectF& rect) {
    QChartView::drawForeground(painter, rect);
    painter->setFont(font());
    if (order_.empty()) {
        painter->setPen(Palette(palette()).text());
        painter->drawText(chart()->rect(), Qt::AlignCenter,
                          tr("None of these fits and has a price; the table says why."));
        return;
    }
    paintBands(*painter);
    paintNames(*painter);
    if (!selected_) return;
    painter->setBrush(Qt::NoBrush);
    painter->setPen(QPen(Palette(palette()).selection(), radius() / 2.5));
    painter->drawEllipse(mapToScene(place(*selected_).toPoint()), 1.8 * radius(), 1.8 * radius());
}

void ParetoChart::mousePressEvent(QMouseEvent* event) {
    if (const auto row = rowAt(event->position())) select(row);
}

void ParetoChart::mouseDoubleClickEvent(QMouseEvent* event) {
    const auto row = rowAt(event->position());
    if (!row) return;
    select(row);
    Q_EMIT activated();
}

void ParetoChart::keyPressEvent(QKeyEvent* event) {
    const auto found =
        selected_ ? std::find(order_.begin(), order_.end(), *selected_) : order_.end();
    const int at = found == order_.end() ? -1 : static_cast<int>(found - order_.begin());
    if (const auto next =
            selected_by_key(event->key(), at, static_cast<int>(order_.size()), Qt::Horizontal))
        select(order_[static_cast<std::size_t>(*next)]);
    else if (selected_ && is_activating(event->key()))
        Q_EMIT activated();
    else
        QChartView::keyPressEvent(event);
}

bool ParetoChart::viewportEvent(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QChartView::viewportEvent(event);
    const auto& help = *static_cast<QHelpEvent*>(event);
    const auto row = rowAt(help.pos());
    show_tooltip(help, row ? row_lines(rows_[*row], units_).join(QLatin1Char('\n')) : QString(),
                 viewport());
    return true;
}

}  // namespace sluice

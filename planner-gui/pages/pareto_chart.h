// The points of cost against speed, with Qt Charts.
#pragma once

#include <QtCharts/QChartView>
#include <optional>

#include "planner-gui/pictures/pareto.h"

class QCategoryAxis;
class QLineSeries;
class QScatterSeries;

namespace sluice {

class ParetoChart : public QChartView {
    Q_OBJECT
  public:
    explicit ParetoChart(QWidget* parent = nullptr);

    void setRows(const std::vector<ParetoRow>& rows, CostAxis axis);
    void setByteUnits(ByteUnits units) { units_ = units; }
    /// An index of the rows; nothing, or one that is not plotted: none is marked.
    void select(std::optional<std::size_t> row);
    std::optional<std::size_t> selected() const { return selected_; }
    /// Where a row is painted, in pixels of the view. Precondition: it is plotted.
    QPointF place(std::size_t row) const;

    QSize minimumSizeHint() const override;

  Q_SIGNALS:
    void selectionChanged();
    /// Double click or Enter.
    void activated();

  protected:
    void drawForeground(QPainter* painter, const QRectF& rect) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    std::optional<std::size_t> rowAt(QPointF place) const;
    void fillAxis(QCategoryAxis* axis, const PlotAxis& values, const QString& title);
    void applyPalette();
    QLineF band(std::size_t row) const;
    std::vector<QLineF> lines() const;
    void paintBands(QPainter& painter) const;
    void paintNames(QPainter& painter) const;
    double radius() const;

    std::vector<ParetoRow> rows_;
    std::vector<bool> on_front_;
    std::vector<QString> names_;
    std::vector<std::size_t> order_;  ///< plotted rows, by cost
    CostAxis axis_ = CostAxis::usd_per_hour;
    PlotAxis cost_, speed_;
    ByteUnits units_ = ByteUnits::decimal;
    std::optional<std::size_t> selected_;
    QLineSeries* front_ = nullptr;
    QScatterSeries* best_ = nullptr;
    QScatterSeries* beaten_ = nullptr;
    QCategoryAxis* x_ = nullptr;
    QCategoryAxis* y_ = nullptr;
};

}  // namespace sluice

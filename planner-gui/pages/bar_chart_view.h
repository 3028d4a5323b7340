// Paints horizontal bars with their bands; one of them can be selected.
#pragma once

#include <QWidget>

#include "planner-gui/pictures/bar_chart.h"

namespace sluice {

class BarChartView : public QWidget {
    Q_OBJECT
  public:
    explicit BarChartView(const QString& accessible_name, QWidget* parent = nullptr);

    void setChart(BarChart chart);
    const BarChart& chart() const { return chart_; }
    /// -1: none.
    int selected() const { return selected_; }
    void setSelected(int bar);
    const BarLayout& placed() const { return layout_; }

    QSize sizeHint() const override;

  Q_SIGNALS:
    void selectionChanged(int bar);
    /// By a double click, or Enter or space on the one selected.
    void activated(int bar);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

  private:
    void place();
    void paintBar(QPainter& painter, int bar) const;

    BarChart chart_;
    BarLayout layout_;
    int selected_ = -1;
};

}  // namespace sluice

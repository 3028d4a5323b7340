// Paints predicted over measured tokens/s; a run can be pointed at and selected.
#pragma once

#include <QWidget>
#include <memory>

#include "planner-gui/pages/legend.h"
#include "planner-gui/pictures/scatter.h"

namespace sluice {

class ScatterView : public QWidget {
    Q_OBJECT
  public:
    explicit ScatterView(QWidget* parent = nullptr);

    /// Null, or without a run: nothing is painted.
    void setValidation(std::shared_ptr<const Validation> validation);
    /// -1: none.
    int selected() const { return selected_; }
    void setSelected(int run);
    const ScatterLayout& placed() const { return layout_; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  Q_SIGNALS:
    void selectionChanged(int run);
    /// By a double click, or Enter on the one selected.
    void activated(int run);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

  private:
    void place();
    std::vector<LegendEntry> legend() const;
    double legendWidth() const;
    void paintAxes(QPainter& painter) const;
    void paintPoints(QPainter& painter) const;
    void paintLegend(QPainter& painter) const;

    std::shared_ptr<const Validation> validation_;
    ScatterLayout layout_;
    int selected_ = -1;
};

}  // namespace sluice

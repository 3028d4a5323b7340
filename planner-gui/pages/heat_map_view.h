// Paints a heat map; the mouse hovers and clicks, arrows move the selection.
#pragma once

#include <QWidget>
#include <optional>

#include "planner-gui/pictures/heat_map_geometry.h"

namespace sluice {

class HeatMapView : public QWidget {
    Q_OBJECT
  public:
    explicit HeatMapView(QWidget* parent = nullptr);

    /// Selection moves to the first cell.
    void setMap(const HeatMap& map);
    /// Precondition: the map contains it.
    void setCell(CellIndex at, const HeatCell& cell);
    void setQuantity(HeatQuantity quantity);
    void setByteUnits(ByteUnits units);
    void select(CellIndex at);
    const HeatMap& map() const { return map_; }
    std::optional<CellIndex> selected() const { return selected_; }
    HeatMapGeometry geometryOfMap() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  Q_SIGNALS:
    void selectionChanged();
    /// Double click, Enter or Space.
    void activated();

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

  private:
    void paintCell(QPainter& painter, const HeatMapGeometry& geometry, const ValueScale& scale,
                   CellIndex at, std::size_t misfit_caption) const;
    void paintLabels(QPainter& painter, const HeatMapGeometry& geometry) const;
    void paintLegend(QPainter& painter, const HeatMapGeometry& geometry,
                     const ValueScale& scale) const;
    /// Of the captions of what does not fit, the longest for which all of their cells have room.
    std::size_t misfitCaption(const HeatMapGeometry& geometry) const;
    void paintMisfit(QPainter& painter, const QRectF& box) const;
    HeatMapSizes sizes() const;

    HeatMap map_;
    HeatQuantity quantity_ = HeatQuantity::tokens_per_s;
    ByteUnits units_ = ByteUnits::decimal;
    std::optional<CellIndex> selected_;
};

}  // namespace sluice

// Where are cells, labels and the legend of a heat map?
#pragma once

#include <QRectF>
#include <QSizeF>
#include <optional>
#include <vector>

#include "planner-gui/pictures/heat_map.h"

namespace sluice {

/// What the font says, in pixels.
struct HeatMapSizes {
    double line = 16;           ///< height of a line of text
    double y_labels = 40;       ///< the widest label of a row
    double x_labels = 40;       ///< the widest label of a column
    double legend_labels = 60;  ///< the widest text beside the legend's colours
};

class HeatMapGeometry {
  public:
    HeatMapGeometry(const HeatMap& map, QSizeF size, const HeatMapSizes& sizes);

    QRectF plot() const { return plot_; }
    /// Precondition: the cell is in the map.
    QRectF cell(CellIndex at) const;
    /// The cell at a point; nothing beside the plot.
    std::optional<CellIndex> at(QPointF point) const;
    /// A line above the plot, one below the columns' labels.
    QRectF y_title() const { return y_title_; }
    QRectF x_title() const { return x_title_; }
    QRectF row_label(int y) const;
    QRectF column_label(int x) const;
    /// Every so many columns have a label, so that labels do not touch.
    int column_step() const { return column_step_; }
    /// The bar of colours, high values above.
    QRectF legend() const { return legend_; }
    /// Height of a share of the scale in the bar.
    double legend_y(double share) const { return legend_.bottom() - share * legend_.height(); }
    /// Swatch and text of what the colours do not say, below the bar; 0 is the first.
    QRectF key_swatch(int index) const;
    QRectF key_text(int index) const;

  private:
    HeatMapSizes sizes_;
    int columns_ = 0, rows_ = 0, column_step_ = 1;
    QRectF plot_, legend_, y_title_, x_title_;
};

inline constexpr int kHeatMapKeys = 3;  ///< does not fit, refused, best

/// Where Left, Right, Up, Down, Home and End lead: to a neighbour or the ends of the row; at the
/// border to the same cell. Nothing for another key.
std::optional<CellIndex> moved(const HeatMap& map, CellIndex from, int key);

}  // namespace sluice

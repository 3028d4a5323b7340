// The cells of a heat map as a table: for those who do not see colours, or want the numbers.
#pragma once

#include "planner-gui/models/table_model.h"
#include "planner-gui/pictures/heat_map.h"

namespace sluice {

/// A row a cell, row by row of the map from below.
class HeatMapModel : public TableModel {
    Q_OBJECT
  public:
    using TableModel::TableModel;

    void set_map(const HeatMap& map);
    /// Precondition: the map contains it.
    void set_cell(CellIndex at, const HeatCell& cell);
    void set_byte_units(ByteUnits units);
    const HeatMap& map() const { return map_; }
    CellIndex cell_at(int row) const { return {row % map_.columns(), row / map_.columns()}; }
    int row_of(CellIndex at) const { return at.y * map_.columns() + at.x; }

  private:
    /// `cells`: those rows alone.
    Table table_of_cells(const std::vector<CellIndex>& cells) const;

    HeatMap map_;
    ByteUnits units_ = ByteUnits::decimal;
};

}  // namespace sluice

// The cells of a heat map as a table: for those who do not see colours, or want the numbers.
#pragma once

#include <QAbstractTableModel>

#include "planner-gui/pictures/heat_map.h"

namespace sluice {

/// A row a cell, row by row of the map from below.
class HeatMapModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { x, y, state, tokens_per_s, device, host, usd, bound_by, reason, column_count };

    explicit HeatMapModel(QObject* parent = nullptr);

    void set_map(const HeatMap& map);
    /// Precondition: the map contains it.
    void set_cell(CellIndex at, const HeatCell& cell);
    void set_byte_units(ByteUnits units);
    const HeatMap& map() const { return map_; }
    CellIndex cell_at(int row) const { return {row % map_.columns(), row / map_.columns()}; }
    int row_of(CellIndex at) const { return at.y * map_.columns() + at.x; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    QString text(CellIndex at, int column) const;
    HeatMap map_;
    ByteUnits units_ = ByteUnits::decimal;
};

}  // namespace sluice

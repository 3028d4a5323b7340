// Machines and systems with speed and cost as a table.
#pragma once

#include "planner-gui/models/table_model.h"
#include "planner-gui/pictures/pareto.h"

namespace sluice {

/// A row each; those on the front are marked, those that are not in the picture muted.
class ParetoModel : public TableModel {
    Q_OBJECT
  public:
    using TableModel::TableModel;

    void clear();
    void add_row(const ParetoRow& row);
    void set_axis(CostAxis axis);
    void set_byte_units(ByteUnits units);
    const std::vector<ParetoRow>& rows() const { return rows_; }
    const std::vector<bool>& on_front() const { return on_front_; }
    CostAxis axis() const { return axis_; }

  private:
    void show();
    /// On the front, beaten, or why it is not in the picture; sorted in this order.
    Cell outcome(const ParetoRow& row, bool on_front) const;

    std::vector<ParetoRow> rows_;
    std::vector<bool> on_front_;
    CostAxis axis_ = CostAxis::usd_per_hour;
    ByteUnits units_ = ByteUnits::decimal;
};

}  // namespace sluice

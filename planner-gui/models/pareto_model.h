// Machines and systems with speed and cost as a table.
#pragma once

#include <QAbstractTableModel>

#include "planner-gui/pictures/pareto.h"

namespace sluice {

class ParetoModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column {
        machine,
        system,
        tokens_per_s,
        band,
        usd_per_hour,
        usd_per_million_tokens,
        outcome,  ///< on the front, beaten, or why it is not in the picture
        column_count
    };
    /// What columns are sorted by: numbers where they show numbers; what is missing comes last.
    static constexpr int kSortRole = Qt::UserRole;

    explicit ParetoModel(QObject* parent = nullptr);

    void clear();
    void add_row(const ParetoRow& row);
    void set_axis(CostAxis axis);
    void set_byte_units(ByteUnits units);
    const std::vector<ParetoRow>& rows() const { return rows_; }
    const std::vector<bool>& on_front() const { return on_front_; }
    CostAxis axis() const { return axis_; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    QString text(std::size_t row, int column) const;
    QString outcome_text(std::size_t row) const;
    QVariant sort_key(std::size_t row, int column) const;
    void find_front();

    std::vector<ParetoRow> rows_;
    std::vector<bool> on_front_;
    CostAxis axis_ = CostAxis::usd_per_hour;
    ByteUnits units_ = ByteUnits::decimal;
};

}  // namespace sluice

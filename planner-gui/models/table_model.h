// How does the window show a Table? One item model for all of them, and how it is sorted.
#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include "planner-gui/pictures/byte_units.h"
#include "sim/report/table.h"

namespace sluice {

/// Texts as everywhere, with bytes in the chosen unit. A marked cell or row is bold.
class TableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    /// Role of a cell's number in SI units, where people see one: for sorting.
    static constexpr int kNumberRole = Qt::UserRole;
    /// Role of a bool, of cells and of headers of rows: whether the row is marked.
    static constexpr int kMarkedRole = Qt::UserRole + 1;
    /// Role of a bool: whether the row says less than others.
    static constexpr int kMutedRole = Qt::UserRole + 2;

    /// `named_rows`: the first column is the header of the rows, and marked rows are on yellow.
    explicit TableModel(QObject* parent = nullptr, bool named_rows = false);

    /// Views keep their selection where rows are replaced or added at the end; nothing happens
    /// where the table is the same.
    void setTable(Table table, ByteUnits units = ByteUnits::decimal);
    /// Cells of the column with that key can be edited. What is typed comes with edited(); the
    /// table stays.
    void setEditable(std::string key) { editable_ = std::move(key); }
    /// Precondition: there is such a row.
    void setRow(int at, Row row);
    const Table& table() const { return table_; }
    /// The column with that key, else with that title; -1: none.
    int columnOf(const std::string& key) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;

  Q_SIGNALS:
    /// Without spaces at its ends, and another text than the cell's.
    void edited(int row, QString text);

  private:
    QVariant text(const Row& row, std::size_t column, int role) const;

    Table table_;
    std::vector<std::size_t> shown_;  ///< columns of the table that have a title
    std::string editable_;            ///< key of a column; empty: none
    std::size_t named_ = 0;           ///< how many of them, at the front, name the rows
    ByteUnits units_ = ByteUnits::decimal;
};

/// Sorts by numbers where cells have them, else by text. Cells without a number come after those
/// with one, and muted rows after all others.
class NumberSortProxy : public QSortFilterProxyModel {
    Q_OBJECT
  public:
    using QSortFilterProxyModel::QSortFilterProxyModel;

  protected:
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;
};

}  // namespace sluice

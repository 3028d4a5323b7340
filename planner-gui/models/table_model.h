// How does the window show and sort a Table? With one item model for all tables.
#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include "planner-gui/pictures/byte_units.h"
#include "sim/report/table.h"

namespace sluice {

/// Texts are those of all renderers, with bytes in the chosen unit. A marked cell or row is bold.
class TableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    /// Role of the number behind a visible cell, in SI units, for sorting.
    static constexpr int kNumberRole = Qt::UserRole;
    /// Role of a bool, for cells and row headers: the row is marked.
    static constexpr int kMarkedRole = Qt::UserRole + 1;
    /// Role of a bool: the row is less important than others.
    static constexpr int kMutedRole = Qt::UserRole + 2;

    /// `named_rows`: the first column is the row header, and marked rows have a yellow background.
    explicit TableModel(QObject* parent = nullptr, bool named_rows = false);

    /// Views keep their selection when rows are replaced or added at the end. An equal table
    /// changes nothing.
    void setTable(Table table, ByteUnits units = ByteUnits::decimal);
    /// Makes the cells of the column with that key editable. edited() reports what is typed; the
    /// table does not change.
    void setEditable(std::string key) { editable_ = std::move(key); }
    /// Precondition: the row exists.
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
    /// Without spaces at its ends, and only if it differs from the cell's text.
    void edited(int row, QString text);

  private:
    QVariant text(const Row& row, std::size_t column, int role) const;

    Table table_;
    std::vector<std::size_t> shown_;  ///< columns of the table that have a title
    std::string editable_;            ///< key of the editable column; empty: none
    std::size_t named_ = 0;           ///< number of first columns that are the row header
    ByteUnits units_ = ByteUnits::decimal;
};

/// Sorts by number where cells have one, else by text. Cells without a number follow those with
/// one; muted rows come last.
class NumberSortProxy : public QSortFilterProxyModel {
    Q_OBJECT
  public:
    using QSortFilterProxyModel::QSortFilterProxyModel;

  protected:
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;
};

}  // namespace sluice

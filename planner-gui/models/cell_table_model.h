// A table whose cells are given as values: what is shown, and the number behind it.
#pragma once

#include <QAbstractTableModel>
#include <QColor>
#include <QString>
#include <optional>
#include <vector>

namespace sluice {

struct Cell {
    QString text;
    std::optional<double> number = {};  ///< in SI units; sorts and is exported
    QString tooltip = {};
    bool marked = false;  ///< bold: a misfit, a step outside of its band
    QColor square = {};   ///< before the text, as in a legend; invalid: none
};

struct CellColumn {
    QString title;
    QString tooltip = {};
    QString key = {};  ///< of an exported column, with its unit; empty: the title
};

struct CellTable {
    std::vector<CellColumn> columns;
    std::vector<std::vector<Cell>> rows;  ///< each as long as `columns`
};

/// Numbers by kNumberRole (table_csv.h); columns that have any are right-aligned.
class CellTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    using QAbstractTableModel::QAbstractTableModel;

    void setTable(CellTable table);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;

  private:
    QVariant alignment(int column) const;

    CellTable table_;
    std::vector<bool> numeric_;  ///< one a column: whether a cell has a number
};

/// A line of keys, then a line a row; numbers where cells have them.
QString cell_table_csv(const CellTable& table);

}  // namespace sluice

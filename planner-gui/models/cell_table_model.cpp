#include "planner-gui/models/cell_table_model.h"

#include <QFont>
#include <QStringList>

#include "planner-gui/models/table_csv.h"

namespace sluice {

void CellTableModel::setTable(CellTable table) {
    beginResetModel();
    table_ = std::move(table);
    numeric_.assign(table_.columns.size(), false);
    for (const std::vector<Cell>& row : table_.rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            numeric_[i] = numeric_[i] || row[i].number.has_value();
    endResetModel();
}

int CellTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(table_.rows.size());
}

int CellTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(table_.columns.size());
}

QVariant CellTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Cell& cell =
        table_
            .rows[static_cast<std::size_t>(index.row())][static_cast<std::size_t>(index.column())];
    const CellColumn& column = table_.columns[static_cast<std::size_t>(index.column())];
    switch (role) {
        case Qt::DisplayRole:
            return cell.text;
        case Qt::ToolTipRole:
            return cell.tooltip.isEmpty() ? column.tooltip : cell.tooltip;
        case Qt::AccessibleTextRole:
            return QStringLiteral("%1: %2%3")
                .arg(column.title, cell.text,
                     cell.marked ? QStringLiteral(", ") + cell.tooltip : QString());
        case Qt::TextAlignmentRole:
            return alignment(index.column());
        case Qt::FontRole: {
            if (!cell.marked) return {};
            QFont font;
            font.setBold(true);
            return font;
        }
        case Qt::DecorationRole:
            return cell.square.isValid() ? QVariant(cell.square) : QVariant();
        case kNumberRole:
            return cell.number ? QVariant(*cell.number) : QVariant();
        default:
            return {};
    }
}

QVariant CellTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation == Qt::Vertical)
        return QAbstractTableModel::headerData(section, orientation, role);
    if (section < 0 || section >= columnCount()) return {};
    const CellColumn& column = table_.columns[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole) return column.title;
    if (role == Qt::ToolTipRole) return column.tooltip;
    if (role == Qt::TextAlignmentRole) return alignment(section);
    return {};
}

QVariant CellTableModel::alignment(int column) const {
    const bool right = numeric_[static_cast<std::size_t>(column)];
    return QVariant((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
}

QString cell_table_csv(const CellTable& table) {
    CellTable keyed = table;
    for (CellColumn& column : keyed.columns)
        if (!column.key.isEmpty()) column.title = column.key;
    CellTableModel model;
    model.setTable(std::move(keyed));
    return table_csv(model);
}

}  // namespace sluice

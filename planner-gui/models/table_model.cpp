#include "planner-gui/models/table_model.h"

#include <QBrush>
#include <QFont>
#include <algorithm>

#include "planner-gui/pictures/answer_words.h"
#include "planner-gui/pictures/palette.h"

namespace sluice {
namespace {

QString capital(const std::string& title) {
    QString out = qtext(title).trimmed();
    if (!out.isEmpty()) out[0] = out[0].toUpper();
    return out;
}

QVariant alignment(Unit unit) {
    return QVariant((is_aligned_right(unit) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
}

QVariant number_of(const Cell& cell) {
    if (!cell.is_shown()) return {};
    if (const auto* whole = std::get_if<std::int64_t>(&cell.value))
        return QVariant::fromValue(static_cast<double>(*whole));
    if (const auto* number = std::get_if<double>(&cell.value)) return *number;
    if (const auto* range = std::get_if<Range>(&cell.value)) return range->low;
    return {};
}

/// Pale yellow on white, dark olive on black.
QBrush highlight() { return QColor(240, 228, 66, 80); }

}  // namespace

TableModel::TableModel(QObject* parent, bool named_rows)
    : QAbstractTableModel(parent), named_(named_rows ? 1 : 0) {}

void TableModel::setTable(Table table, ByteUnits units) {
    if (table == table_ && units == units_) return;  // keeps an open editor
    const int before = rowCount(), after = static_cast<int>(table.rows.size());
    if (table.columns != table_.columns || after < before || after == 0) {
        beginResetModel();
        shown_.clear();
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            if (!table.columns[i].title.empty()) shown_.push_back(i);
        table_ = std::move(table);
        units_ = units;
        endResetModel();
        return;
    }
    if (after > before) {
        beginInsertRows({}, before, after - 1);
        table_.rows.insert(table_.rows.end(), table.rows.begin() + before, table.rows.end());
        endInsertRows();
    }
    table_ = std::move(table);
    units_ = units;
    if (before == 0 || columnCount() == 0) return;
    Q_EMIT dataChanged(index(0, 0), index(before - 1, columnCount() - 1));
    Q_EMIT headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
}

void TableModel::setRow(int at, Row row) {
    table_.rows[static_cast<std::size_t>(at)] = std::move(row);
    Q_EMIT dataChanged(index(at, 0), index(at, columnCount() - 1));
}

int TableModel::columnOf(const std::string& key) const {
    for (std::size_t i = named_; i < shown_.size(); ++i) {
        const Column& column = table_.columns[shown_[i]];
        if ((column.key.empty() ? column.title : column.key) == key)
            return static_cast<int>(i - named_);
    }
    return -1;
}

int TableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(table_.rows.size());
}

int TableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() || shown_.empty() ? 0 : static_cast<int>(shown_.size() - named_);
}

QVariant TableModel::text(const Row& row, std::size_t at, int role) const {
    const Column& column = table_.columns[at];
    const Cell& cell = row.cells[at];
    QString words = window_text(cell_text(cell, column.unit, bytes_text(units_)));
    if (role == Qt::DisplayRole) return words;
    words.remove(QChar(0x200B));  // allows a line break there
    if (role == Qt::EditRole) return words;
    if (role == Qt::AccessibleTextRole)
        return QStringLiteral("%1: %2%3")
            .arg(capital(column.title).simplified(), words,
                 cell.marked                ? QStringLiteral(", ") + qtext(cell.tooltip)
                 : row.marked && named_ > 0 ? tr(", differs")
                                            : QString());
    const std::string& tip = !cell.tooltip.empty()  ? cell.tooltip
                             : !row.tooltip.empty() ? row.tooltip
                                                    : column.help;
    return window_text(tip);
}

QVariant TableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Row& row = table_.rows[static_cast<std::size_t>(index.row())];
    const std::size_t at = shown_[static_cast<std::size_t>(index.column()) + named_];
    const Cell& cell = row.cells[at];
    switch (role) {
        case Qt::DisplayRole:
        case Qt::EditRole:
        case Qt::AccessibleTextRole:
        case Qt::ToolTipRole:
        case Qt::AccessibleDescriptionRole:
            return text(row, at, role);
        case Qt::TextAlignmentRole:
            return alignment(table_.columns[at].unit);
        case Qt::FontRole: {
            if (!cell.marked && !row.marked) return {};
            QFont font;
            font.setBold(true);
            return font;
        }
        case Qt::BackgroundRole:
            return row.marked && named_ > 0 ? QVariant(highlight()) : QVariant();
        case Qt::ForegroundRole:
            return row.muted ? QVariant(qcolor(colours_of({}).muted)) : QVariant();
        case Qt::DecorationRole:
            return cell.series >= 0 ? QVariant(qcolor(light_colours().of(
                                          series_paint(static_cast<std::size_t>(cell.series)))))
                                    : QVariant();
        case kNumberRole:
            return number_of(cell);
        case kMarkedRole:
            return row.marked;
        case kMutedRole:
            return row.muted;
        default:
            return {};
    }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (section < 0) return {};
    const auto at = static_cast<std::size_t>(section);
    if (orientation == Qt::Vertical) {
        if (at >= table_.rows.size()) return {};
        const Row& row = table_.rows[at];
        if (role == kMarkedRole) return row.marked;
        if (named_ == 0) return role == Qt::DisplayRole ? QVariant(section + 1) : QVariant();
        if (role == Qt::DisplayRole) return qtext(cell_text(row.cells[shown_[0]], Unit::text));
        return role == Qt::ToolTipRole ? QVariant(qtext(row.tooltip)) : QVariant();
    }
    if (at + named_ >= shown_.size()) return {};
    const Column& column = table_.columns[shown_[at + named_]];
    if (role == Qt::DisplayRole) return named_ > 0 ? qtext(column.title) : capital(column.title);
    if (role == Qt::ToolTipRole || role == Qt::AccessibleDescriptionRole)
        return window_text(column.help);
    // Views wrap the names of scenarios.
    if (named_ > 0 || role != Qt::TextAlignmentRole) return {};
    return alignment(column.unit);
}

Qt::ItemFlags TableModel::flags(const QModelIndex& index) const {
    const bool editable =
        index.isValid() && !editable_.empty() && index.column() == columnOf(editable_);
    return QAbstractTableModel::flags(index) | (editable ? Qt::ItemIsEditable : Qt::NoItemFlags);
}

bool TableModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != Qt::EditRole || !flags(index).testFlag(Qt::ItemIsEditable)) return false;
    const QString typed = value.toString().trimmed();
    if (typed != index.data(Qt::EditRole).toString()) Q_EMIT edited(index.row(), typed);
    return true;
}

bool NumberSortProxy::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    const bool muted = left.data(TableModel::kMutedRole).toBool();
    if (muted != right.data(TableModel::kMutedRole).toBool()) return !muted;
    const QVariant a = left.data(TableModel::kNumberRole), b = right.data(TableModel::kNumberRole);
    if (a.isValid() && b.isValid() && a.toDouble() != b.toDouble())
        return a.toDouble() < b.toDouble();
    if (a.isValid() != b.isValid()) return a.isValid();
    return QString::localeAwareCompare(left.data().toString(), right.data().toString()) < 0;
}

}  // namespace sluice

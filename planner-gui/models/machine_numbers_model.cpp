#include "planner-gui/models/machine_numbers_model.h"

#include <fmt/format.h>

#include <QFont>
#include <algorithm>

namespace sluice {
namespace {

QString from(const std::string& text) { return QString::fromStdString(text); }

/// It may go on on another line after each part.
QString breakable(const QString& path) {
    QString out;
    for (const QChar letter : path) {
        out += letter;
        if (letter == QLatin1Char('.') || letter == QLatin1Char('_')) out += QChar(0x200B);
    }
    return out;
}

}  // namespace

MachineNumbersModel::MachineNumbersModel(QObject* parent) : QAbstractTableModel(parent) {}

void MachineNumbersModel::setMachine(const MachineProfile& profile, const MachineSpec& machine,
                                     const std::vector<std::string>& settings) {
    std::vector<Row> rows;
    for (const std::string& path : machine.inputs) {
        const Quantity* const number = profile.find(path);
        if (number == nullptr || !number->value || path == "host.memory_capacity_gb") continue;
        Row row;
        row.path = from(path);
        row.value = from(fmt::format("{:g}", *number->value));
        row.source = from(method_name(number->method));
        row.details =
            from(fmt::format("{}{}{}{}{}", number->date, number->date.empty() ? "" : ", ",
                             number->source, number->note.empty() ? "" : "\n", number->note));
        row.changed = std::any_of(settings.begin(), settings.end(), [&](const std::string& set) {
            return set.starts_with(path + "=");
        });
        if (row.changed) row.source = tr("your value");
        rows.push_back(std::move(row));
    }
    for (const char* const path : kStorageRates)
        if (profile.find(path) == nullptr || !profile.find(path)->value)
            rows.push_back({QString::fromLatin1(path),
                            {},
                            tr("not known"),
                            tr("Rates of a disk or SSD; systems that keep states there need both"),
                            false});
    if (rows == rows_) return;
    if (rows.size() != rows_.size()) {
        beginResetModel();
        rows_ = std::move(rows);
        endResetModel();
        return;
    }
    rows_ = std::move(rows);
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, kColumns - 1));
}

int MachineNumbersModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int MachineNumbersModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(kColumns);
}

QVariant MachineNumbersModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Row& row = rows_[static_cast<std::size_t>(index.row())];
    if (role == Qt::DisplayRole || role == Qt::EditRole || role == Qt::AccessibleTextRole)
        return index.column() == PathColumn
                   ? (role == Qt::DisplayRole ? breakable(row.path) : row.path)
               : index.column() == ValueColumn ? row.value
                                               : row.source;
    if (role == Qt::ToolTipRole)
        return row.details.isEmpty() ? row.source
                                     : QStringLiteral("%1: %2").arg(row.source, row.details);
    if (role == Qt::TextAlignmentRole && index.column() == ValueColumn)
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    if (role == Qt::FontRole && row.changed) {
        QFont font;
        font.setBold(true);
        return font;
    }
    return {};
}

QVariant MachineNumbersModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role != Qt::DisplayRole || orientation != Qt::Horizontal) return {};
    return section == PathColumn ? tr("Number") : section == ValueColumn ? tr("Value") : tr("From");
}

Qt::ItemFlags MachineNumbersModel::flags(const QModelIndex& index) const {
    return QAbstractTableModel::flags(index) |
           (index.isValid() && index.column() == ValueColumn ? Qt::ItemIsEditable
                                                             : Qt::NoItemFlags);
}

bool MachineNumbersModel::setData(const QModelIndex& index, const QVariant& given, int role) {
    if (role != Qt::EditRole || !index.isValid() || index.column() != ValueColumn) return false;
    const Row& row = rows_[static_cast<std::size_t>(index.row())];
    const QString text = given.toString().trimmed();
    if (text != row.value) Q_EMIT edited(row.path, text);
    return true;
}

}  // namespace sluice

#include "planner-gui/models/scenario_list_model.h"

#include <QTextDocument>

namespace sluice {

ScenarioListModel::ScenarioListModel(ScenarioStack& stack, QObject* parent)
    : QAbstractListModel(parent), stack_(stack), rows_(stack.count()) {
    connect(&stack_, &ScenarioStack::listChanged, this, &ScenarioListModel::follow);
}

int ScenarioListModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : rows_;
}

QVariant ScenarioListModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= stack_.count()) return {};
    const PlannedScenario& one = stack_.project().scenarios[static_cast<std::size_t>(index.row())];
    if (role == Qt::DisplayRole || role == Qt::EditRole) return QString::fromStdString(one.name);
    if (role == Qt::ToolTipRole)
        return Qt::convertFromPlainText(
            QString::fromStdString(one.notes.empty() ? command_line(one) : one.notes),
            Qt::WhiteSpaceNormal);
    return {};
}

bool ScenarioListModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != Qt::EditRole || !index.isValid() || value.toString().trimmed().isEmpty())
        return false;
    stack_.rename(index.row(), value.toString());
    return true;
}

Qt::ItemFlags ScenarioListModel::flags(const QModelIndex& index) const {
    return QAbstractListModel::flags(index) |
           (index.isValid() ? Qt::ItemIsEditable : Qt::NoItemFlags);
}

void ScenarioListModel::follow() {
    if (stack_.count() == rows_) {
        Q_EMIT dataChanged(index(0), index(rows_ - 1));
        return;
    }
    beginResetModel();
    rows_ = stack_.count();
    endResetModel();
}

}  // namespace sluice

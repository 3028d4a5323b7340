#include "planner-gui/models/heat_map_model.h"

#include "sim/base/format.h"

namespace sluice {
namespace {

QVariant alignment(int column) {
    const bool is_number = (column >= HeatMapModel::tokens_per_s && column <= HeatMapModel::usd) ||
                           column < HeatMapModel::state;
    return QVariant((is_number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
}

}  // namespace

HeatMapModel::HeatMapModel(QObject* parent) : QAbstractTableModel(parent) {}

void HeatMapModel::set_map(const HeatMap& map) {
    beginResetModel();
    map_ = map;
    endResetModel();
}

void HeatMapModel::set_cell(CellIndex at, const HeatCell& cell) {
    map_.set_cell(at, cell);
    const int row = row_of(at);
    Q_EMIT dataChanged(index(row, 0), index(row, column_count - 1));
}

void HeatMapModel::set_byte_units(ByteUnits units) {
    units_ = units;
    if (rowCount() > 0) Q_EMIT dataChanged(index(0, device), index(rowCount() - 1, reason));
}

int HeatMapModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : map_.columns() * map_.rows();
}

int HeatMapModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : column_count;
}

QString HeatMapModel::text(CellIndex at, int column) const {
    const HeatCell& cell = map_.cell(at);
    const std::vector<VariedValue> settings = map_.settings(at);
    const bool planned = cell.state == CellState::fits || cell.state == CellState::does_not_fit;
    const bool fits = cell.state == CellState::fits;
    const auto bytes = [&](Bytes number) {
        return planned ? byte_text(static_cast<double>(number), units_) : QString();
    };
    switch (column) {
        case x:
            return QString::fromStdString(value_label(settings[0].number, settings[0].value));
        case y:
            return QString::fromStdString(value_label(settings[1].number, settings[1].value));
        case state:
            return cell_state_name(cell.state);
        case tokens_per_s:
            return fits ? QString::fromStdString(format_thousands(cell.tokens_per_s)) : QString();
        case device:
            return bytes(cell.device);
        case host:
            return bytes(cell.host);
        case usd:
            return fits && cell.usd_per_million_tokens
                       ? QString::fromStdString(format_usd(*cell.usd_per_million_tokens))
                       : QString();
        case bound_by:
            // The name alone; shares are in the tooltip.
            return fits ? QString::fromStdString(
                              cell.bottleneck.substr(0, cell.bottleneck.find(',')))
                        : QString();
        case reason:
            return reason_text(cell.reason, cell.shortages, units_);
    }
    return {};
}

QVariant HeatMapModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const CellIndex at = cell_at(index.row());
    if (role == Qt::DisplayRole) return text(at, index.column());
    if (role == Qt::ToolTipRole) return cell_lines(map_, at, units_).join(QLatin1Char('\n'));
    if (role == Qt::TextAlignmentRole) return alignment(index.column());
    return {};
}

QVariant HeatMapModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation == Qt::Vertical) return role == Qt::DisplayRole ? section + 1 : QVariant();
    if (role == Qt::TextAlignmentRole) return alignment(section);
    if (role != Qt::DisplayRole) return {};
    switch (section) {
        case x:
            return QString::fromStdString(axis_title(map_.x().number));
        case y:
            return QString::fromStdString(axis_title(map_.y().number));
        case state:
            return tr("State");
        case tokens_per_s:
            return tr("Tokens/s");
        case device:
            return tr("Device");
        case host:
            return tr("Host");
        case usd:
            return tr("$/M tokens");
        case bound_by:
            return tr("Bound by");
        case reason:
            return tr("Reason");
    }
    return {};
}

}  // namespace sluice

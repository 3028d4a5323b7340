#include "planner-gui/models/pareto_model.h"

#include <limits>

#include "sim/report/format.h"

namespace sluice {
namespace {

QString money(const std::optional<double>& usd) {
    return usd ? QString::fromStdString(format_usd(*usd)) : QString();
}

}  // namespace

ParetoModel::ParetoModel(QObject* parent) : QAbstractTableModel(parent) {}

void ParetoModel::clear() {
    beginResetModel();
    rows_.clear();
    on_front_.clear();
    endResetModel();
}

void ParetoModel::add_row(const ParetoRow& row) {
    const int at = rowCount();
    beginInsertRows({}, at, at);
    rows_.push_back(row);
    on_front_.push_back(false);
    endInsertRows();
    find_front();
}

void ParetoModel::set_axis(CostAxis axis) {
    axis_ = axis;
    find_front();
}

void ParetoModel::find_front() {
    on_front_ = sluice::on_front(rows_, axis_);
    if (!rows_.empty()) Q_EMIT dataChanged(index(0, front), index(rowCount() - 1, front));
}

int ParetoModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ParetoModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : column_count;
}

QString ParetoModel::text(std::size_t i, int column) const {
    const ParetoRow& row = rows_[i];
    switch (column) {
        case machine:
            return QString::fromStdString(row.machine);
        case system:
            return QString::fromStdString(row.system);
        case fits:
            return !row.planned ? tr("refused") : row.fits ? tr("yes") : tr("no");
        case tokens_per_s:
            return row.fits ? QString::fromStdString(format_thousands(row.tokens_per_s()))
                            : QString();
        case band:
            return band_text(row);
        case usd_per_hour:
            return money(row.usd_per_hour);
        case usd_per_million_tokens:
            return row.fits ? money(row.usd_per_million_tokens) : QString();
        case front:
            return on_front_[i] ? tr("yes") : row.is_plotted() ? tr("no") : QString();
        case reason:
            return QString::fromStdString(row.reason);
    }
    return {};
}

QVariant ParetoModel::sort_key(std::size_t i, int column) const {
    const ParetoRow& row = rows_[i];
    constexpr double kLast = std::numeric_limits<double>::infinity();
    switch (column) {
        case tokens_per_s:
        case band:
            return row.fits ? row.tokens_per_s() : kLast;
        case usd_per_hour:
            return row.fits ? row.usd_per_hour.value_or(kLast) : kLast;
        case usd_per_million_tokens:
            return row.fits ? row.usd_per_million_tokens.value_or(kLast) : kLast;
    }
    return text(i, column);
}

QVariant ParetoModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const auto row = static_cast<std::size_t>(index.row());
    const bool is_number =
        index.column() >= tokens_per_s && index.column() <= usd_per_million_tokens;
    if (role == Qt::DisplayRole) return text(row, index.column());
    if (role == kSortRole) return sort_key(row, index.column());
    if (role == Qt::ToolTipRole) return row_lines(rows_[row], units_).join(QLatin1Char('\n'));
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(
            Qt::Alignment(Qt::AlignVCenter | (is_number ? Qt::AlignRight : Qt::AlignLeft)));
    return {};
}

QVariant ParetoModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role != Qt::DisplayRole) return {};
    if (orientation == Qt::Vertical) return section + 1;
    switch (section) {
        case machine:
            return tr("machine");
        case system:
            return tr("system");
        case fits:
            return tr("fits");
        case tokens_per_s:
            return tr("tokens/s");
        case band:
            return tr("5 to 95%");
        case usd_per_hour:
            return cost_name(CostAxis::usd_per_hour);
        case usd_per_million_tokens:
            return cost_name(CostAxis::usd_per_million_tokens);
        case front:
            return tr("on the front");
        case reason:
            return tr("why not in the picture");
    }
    return {};
}

}  // namespace sluice

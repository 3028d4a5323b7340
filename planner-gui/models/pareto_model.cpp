#include "planner-gui/models/pareto_model.h"

#include <QFont>
#include <limits>

#include "planner-gui/pictures/palette.h"
#include "sim/base/format.h"

namespace sluice {
namespace {

QVariant alignment(int column) {
    const bool is_number =
        column >= ParetoModel::tokens_per_s && column <= ParetoModel::usd_per_million_tokens;
    return QVariant((is_number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
}

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
    if (!rows_.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, outcome));
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
        case tokens_per_s:
            return row.fits ? QString::fromStdString(format_thousands(row.tokens_per_s()))
                            : QString();
        case band:
            return band_text(row);
        case usd_per_hour:
            return money(row.usd_per_hour);
        case usd_per_million_tokens:
            return row.fits ? money(row.usd_per_million_tokens) : QString();
        case outcome:
            return outcome_text(i);
    }
    return {};
}

void ParetoModel::set_byte_units(ByteUnits units) {
    units_ = units;
    if (!rows_.empty()) Q_EMIT dataChanged(index(0, outcome), index(rowCount() - 1, outcome));
}

QString ParetoModel::outcome_text(std::size_t i) const {
    const ParetoRow& row = rows_[i];
    if (on_front_[i]) return tr("on the front");
    if (row.is_plotted()) return tr("beaten");
    const QString reason = reason_text(row.reason, row.shortages, units_);
    if (!row.planned) return tr("refused: %1").arg(reason);
    return row.fits ? reason : tr("does not fit: %1").arg(reason);
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
    if (column == outcome)  // what is in the picture first
        return (on_front_[i]       ? QStringLiteral("0")
                : row.is_plotted() ? QStringLiteral("1")
                : row.planned      ? QStringLiteral("2")
                                   : QStringLiteral("3")) +
               text(i, column);
    return text(i, column);
}

QVariant ParetoModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const auto row = static_cast<std::size_t>(index.row());
    if (role == Qt::DisplayRole) return text(row, index.column());
    if (role == kSortRole) return sort_key(row, index.column());
    if (role == Qt::ToolTipRole) return row_lines(rows_[row], units_).join(QLatin1Char('\n'));
    if (role == Qt::FontRole && on_front_[row]) {
        QFont font;
        font.setBold(true);
        return font;
    }
    if (role == Qt::ForegroundRole && !rows_[row].is_plotted()) return Palette().muted();
    if (role == Qt::TextAlignmentRole) return alignment(index.column());
    return {};
}

QVariant ParetoModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation == Qt::Vertical) return role == Qt::DisplayRole ? section + 1 : QVariant();
    if (role == Qt::TextAlignmentRole) return alignment(section);
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
    const bool tip = role == Qt::ToolTipRole;
    switch (section) {
        case machine:
            return tip ? QVariant() : tr("Machine");
        case system:
            return tip ? QVariant() : tr("System");
        case tokens_per_s:
            return tip ? tr("Predicted, in a steady step") : tr("Tokens/s");
        case band:
            return tip ? tr("Nine of ten measured steps should lie there") : tr("5 to 95%");
        case usd_per_hour:
            return tip ? cost_name(CostAxis::usd_per_hour) : tr("$/h");
        case usd_per_million_tokens:
            return tip ? cost_name(CostAxis::usd_per_million_tokens) : tr("$/M tokens");
        case outcome:
            return tip ? tr("On the front: none is faster for less") : tr("Outcome");
    }
    return {};
}

}  // namespace sluice

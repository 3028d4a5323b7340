#include "planner-gui/pictures/heat_map.h"

#include <fmt/format.h>

#include <QCoreApplication>
#include <algorithm>

#include "sim/base/format.h"

namespace sluice {
namespace {

struct HeatMapText {
    Q_DECLARE_TR_FUNCTIONS(HeatMap)
};

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

bool more_is_better(HeatQuantity quantity) { return quantity == HeatQuantity::tokens_per_s; }

/// The memory that lacks most, and its name.
std::pair<QString, Bytes> largest_shortage(const HeatCell& cell) {
    const std::vector<std::pair<QString, Bytes>> all = {
        {HeatMapText::tr("device"), cell.device_short},
        {HeatMapText::tr("host"), cell.host_short},
        {HeatMapText::tr("storage"), cell.storage_short}};
    return *std::max_element(all.begin(), all.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
}

QString bytes(Bytes number, ByteUnits units) {
    return byte_text(static_cast<double>(number), units);
}

std::string csv_line(const HeatMap& map, CellIndex at) {
    const HeatCell& cell = map.cell(at);
    std::string line = csv_text(values_text(map.x().number, {map.settings(at)[0].value})) + "," +
                       csv_text(values_text(map.y().number, {map.settings(at)[1].value})) + "," +
                       cell_state_name(cell.state).toStdString();
    const bool fits = cell.state == CellState::fits;
    const bool planned = fits || cell.state == CellState::does_not_fit;
    line += fits ? fmt::format(",{},{}", cell.tokens_per_s, cell.step) : ",,";
    line += planned ? fmt::format(",{},{},{},{},{}", cell.device, cell.host, cell.device_short,
                                  cell.host_short, cell.storage_short)
                    : ",,,,,";
    line += fits && cell.usd_per_million_tokens ? fmt::format(",{}", *cell.usd_per_million_tokens)
                                                : ",";
    return line + "," + csv_text(cell.bottleneck) + "," +
           csv_text(reason_text(cell.reason, cell.shortages, ByteUnits::decimal).toStdString()) +
           "\n";
}

}  // namespace

QString quantity_name(HeatQuantity quantity) {
    switch (quantity) {
        case HeatQuantity::tokens_per_s:
            return HeatMapText::tr("tokens/s");
        case HeatQuantity::device_memory:
            return HeatMapText::tr("device memory");
        case HeatQuantity::host_memory:
            return HeatMapText::tr("host memory");
        case HeatQuantity::usd_per_million_tokens:
            return HeatMapText::tr("$ per million tokens");
    }
    return {};
}

QString quantity_text(HeatQuantity quantity, double value, ByteUnits units) {
    switch (quantity) {
        case HeatQuantity::tokens_per_s:
            return text(format_thousands(value));
        case HeatQuantity::device_memory:
        case HeatQuantity::host_memory:
            return byte_text(value, units);
        case HeatQuantity::usd_per_million_tokens:
            return text(format_usd(value));
    }
    return {};
}

HeatMap::HeatMap(HeatAxis x, HeatAxis y) : x_(std::move(x)), y_(std::move(y)) {
    cells_.resize(x_.values.size() * y_.values.size());
}

std::vector<VariedValue> HeatMap::settings(CellIndex at) const {
    return {{x_.number, x_.values[static_cast<std::size_t>(at.x)]},
            {y_.number, y_.values[static_cast<std::size_t>(at.y)]}};
}

std::optional<double> HeatMap::value(CellIndex at, HeatQuantity quantity) const {
    const HeatCell& cell = this->cell(at);
    if (cell.state != CellState::fits) return std::nullopt;
    switch (quantity) {
        case HeatQuantity::tokens_per_s:
            return cell.tokens_per_s;
        case HeatQuantity::device_memory:
            return static_cast<double>(cell.device);
        case HeatQuantity::host_memory:
            return static_cast<double>(cell.host);
        case HeatQuantity::usd_per_million_tokens:
            return cell.usd_per_million_tokens;
    }
    return std::nullopt;
}

int HeatMap::computed() const {
    return static_cast<int>(std::count_if(cells_.begin(), cells_.end(), [](const HeatCell& cell) {
        return cell.state != CellState::not_computed;
    }));
}

std::optional<CellIndex> HeatMap::best(HeatQuantity quantity) const {
    std::optional<CellIndex> best;
    double best_value = 0;
    for (int y = 0; y < rows(); ++y) {
        for (int x = 0; x < columns(); ++x) {
            const std::optional<double> value = this->value({x, y}, quantity);
            if (!value) continue;
            if (best && (more_is_better(quantity) ? *value <= best_value : *value >= best_value))
                continue;
            best = CellIndex{x, y};
            best_value = *value;
        }
    }
    return best;
}

Axis HeatMap::scale(HeatQuantity quantity) const {
    std::vector<double> values;
    for (int y = 0; y < rows(); ++y)
        for (int x = 0; x < columns(); ++x)
            if (const std::optional<double> value = this->value({x, y}, quantity))
                values.push_back(*value);
    return axis_between(values, 6);
}

QString cell_place(const HeatMap& map, CellIndex at) {
    QStringList parts;
    for (const VariedValue& setting : map.settings(at)) {
        const QString unit = setting.number.option == nullptr
                                 ? QLatin1Char(' ') + text(setting.number.unit)
                                 : QString();
        parts << text(setting.number.label) + QLatin1Char(' ') +
                     text(value_label(setting.number, setting.value)) + unit;
    }
    return parts.join(QStringLiteral(", "));
}

QString cell_state_name(CellState state) {
    switch (state) {
        case CellState::not_computed:
            return HeatMapText::tr("not computed");
        case CellState::fits:
            return HeatMapText::tr("fits");
        case CellState::does_not_fit:
            return HeatMapText::tr("does not fit");
        case CellState::refused:
            return HeatMapText::tr("refused");
    }
    return {};
}

QStringList cell_lines(const HeatMap& map, CellIndex at, ByteUnits units) {
    const HeatCell& cell = map.cell(at);
    QStringList lines = {cell_place(map, at)};
    const QString state = cell_state_name(cell.state);
    const QString reason = reason_text(cell.reason, cell.shortages, units);
    lines << (reason.isEmpty() ? state : state + QStringLiteral(": ") + reason);
    if (cell.state == CellState::not_computed || cell.state == CellState::refused) return lines;
    const QString speed =
        HeatMapText::tr("%1 tokens/s, %2 a step")
            .arg(text(format_thousands(cell.tokens_per_s)), text(format_seconds(cell.step)));
    lines << (cell.state == CellState::fits ? speed : HeatMapText::tr("if it fit: %1").arg(speed));
    lines << HeatMapText::tr("device %1, host %2")
                 .arg(bytes(cell.device, units), bytes(cell.host, units));
    if (cell.state == CellState::fits && cell.usd_per_million_tokens)
        lines << HeatMapText::tr("%1 a million tokens")
                     .arg(text(format_usd(*cell.usd_per_million_tokens)));
    if (!cell.bottleneck.empty())
        lines << HeatMapText::tr("bound by %1").arg(text(cell.bottleneck));
    return lines;
}

QStringList cell_captions(const HeatMap& map, CellIndex at, HeatQuantity quantity,
                          ByteUnits units) {
    const HeatCell& cell = map.cell(at);
    switch (cell.state) {
        case CellState::not_computed:
            return {QString()};
        case CellState::fits: {
            const std::optional<double> value = map.value(at, quantity);
            if (!value) return {HeatMapText::tr("no price"), QString()};
            return {quantity_text(quantity, *value, units), QString()};
        }
        case CellState::does_not_fit: {
            const auto [name, missing] = largest_shortage(cell);
            const QString amount = bytes(missing, units);
            return {HeatMapText::tr("%1 short %2").arg(name, amount),
                    HeatMapText::tr("short %1").arg(amount), QLatin1Char('-') + amount, QString()};
        }
        case CellState::refused:
            return {cell_state_name(cell.state), QStringLiteral("\u00d7")};
    }
    return {QString()};
}

QString heat_map_csv(const HeatMap& map) {
    std::string out = csv_text(map.x().number.key) + "," + csv_text(map.y().number.key) +
                      ",state,tokens_per_s,step_s,device_bytes,host_bytes,device_short_bytes,"
                      "host_short_bytes,storage_short_bytes,usd_per_million_tokens,bound_by,"
                      "reason\n";
    for (int y = 0; y < map.rows(); ++y)
        for (int x = 0; x < map.columns(); ++x) out += csv_line(map, {x, y});
    return text(out);
}

}  // namespace sluice

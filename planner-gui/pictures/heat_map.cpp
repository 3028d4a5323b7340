#include "planner-gui/pictures/heat_map.h"

#include <QCoreApplication>
#include <algorithm>

#include "planner-gui/pictures/answer_words.h"
#include "sim/base/format.h"
#include "sim/report/answers/findings.h"

namespace sluice {
namespace {

struct HeatMapText {
    Q_DECLARE_TR_FUNCTIONS(HeatMap)
};

bool more_is_better(HeatQuantity quantity) { return quantity == HeatQuantity::tokens_per_s; }

/// The memory with the largest shortage, and its name.
std::pair<QString, Bytes> largest_shortage(const Fit& fit) {
    const std::vector<std::pair<QString, Bytes>> all = {
        {HeatMapText::tr("device"), fit.device().shortfall()},
        {HeatMapText::tr("host"), fit.host().shortfall()},
        {HeatMapText::tr("storage"), fit.storage().shortfall()}};
    return *std::max_element(all.begin(), all.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
}

QString bytes(Bytes number, ByteUnits units) {
    return byte_text(static_cast<double>(number), units);
}

std::vector<ColumnOf<CellIndex>> columns_of(const HeatMap& map, ByteUnits units) {
    const auto axis = [&map](const VariedNumber& number, std::size_t which) {
        const auto setting = [&map, which](const CellIndex& at) {
            const VariedValue one = map.values(at)[which];
            const std::string label = value_label(one.number, one.value);
            const bool is_choice = one.number.option && !one.number.option->choices.empty();
            return is_choice ? Cell(label) : Cell(one.value).shown_as(label);
        };
        return ColumnOf<CellIndex>(number.key.c_str(), axis_title(number).c_str(), Unit::number,
                                   setting, "", Programs::csv);
    };
    const auto if_planned = [&map](auto value) {
        return [&map, value](const CellIndex& at) {
            const std::optional<ScenarioValue>& cell = map.cell(at);
            return cell && cell->is_planned() ? Cell(std::invoke(value, *cell)) : Cell();
        };
    };
    const auto if_fits = [&](auto value) {
        return if_planned([value](const ScenarioValue& cell) {
            return cell.fits() ? Cell(std::invoke(value, cell)) : Cell();
        });
    };
    return {axis(map.x().number, 0),
            axis(map.y().number, 1),
            {"state", "state", Unit::text,
             [&map](auto& at) { return Cell(cell_state_name(map.state(at)).toStdString()); }},
            {"tokens_per_s", "tokens/s", Unit::whole, if_fits(&ScenarioValue::tokens_per_s)},
            {"step_s", "", Unit::seconds, if_fits(&ScenarioValue::step)},
            {"device_bytes", "device", Unit::bytes,
             if_planned([](auto& cell) { return cell.fit.device().peak.bytes; })},
            {"host_bytes", "host", Unit::bytes,
             if_planned([](auto& cell) { return cell.fit.host().peak.bytes; })},
            {"device_short_bytes", "", Unit::bytes,
             if_planned([](auto& cell) { return cell.fit.device().shortfall(); })},
            {"host_short_bytes", "", Unit::bytes,
             if_planned([](auto& cell) { return cell.fit.host().shortfall(); })},
            {"storage_short_bytes", "", Unit::bytes,
             if_planned([](auto& cell) { return cell.fit.storage().shortfall(); })},
            {"usd_per_million_tokens", "$ a million", Unit::usd,
             if_fits(&ScenarioValue::usd_per_million_tokens)},
            {"settings", "settings", Unit::text,
             [&map](auto& at) {
                 const bool planned = map.cell(at) && map.cell(at)->is_planned();
                 return Cell(planned ? cell_settings(map, at).toStdString() : "");
             }},
            {"bound_by", "bound by", Unit::text,
             if_fits([](auto& cell) { return Cell(cell.bottleneck).shown_as(cell.bound_by); })},
            {"reason", "reason", Unit::text, [&map, units](auto& at) {
                 return Cell(map.cell(at) ? reason_text(*map.cell(at), units).toStdString() : "");
             }}};
}

Table table_of_cells(const HeatMap& map, ByteUnits units, const std::vector<CellIndex>& cells) {
    Table out = table_of<CellIndex>(cells, columns_of(map, units));
    for (std::size_t i = 0; i < cells.size(); ++i)
        out.rows[i].tooltip =
            cell_lines(map, cells[i], units).join(QLatin1Char('\n')).toStdString();
    return out;
}

}  // namespace

ExploredAxis explored_axis(const HeatAxis& axis) {
    ExploredAxis out{axis.number.key, {}};
    for (const double value : axis.values) out.values.push_back(values_text(axis.number, {value}));
    return out;
}

std::vector<Setting> settings_of(const std::vector<VariedValue>& values) {
    std::vector<Setting> out;
    for (const VariedValue& one : values)
        out.push_back({one.number.key, values_text(one.number, {one.value})});
    return out;
}

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
    if (quantity == HeatQuantity::tokens_per_s) return qtext(format_thousands(value));
    if (quantity == HeatQuantity::usd_per_million_tokens) return qtext(format_usd(value));
    return byte_text(value, units);
}

HeatMap::HeatMap(HeatAxis x, HeatAxis y, PointSettings settings)
    : x_(std::move(x)), y_(std::move(y)), point_settings_(settings) {
    cells_.resize(x_.values.size() * y_.values.size());
}

std::vector<VariedValue> HeatMap::values(CellIndex at) const {
    return {{x_.number, x_.values[static_cast<std::size_t>(at.x)]},
            {y_.number, y_.values[static_cast<std::size_t>(at.y)]}};
}

CellState HeatMap::state(CellIndex at) const {
    const std::optional<ScenarioValue>& value = cell(at);
    return !value                 ? CellState::not_computed
           : !value->is_planned() ? CellState::refused
           : value->fits()        ? CellState::fits
                                  : CellState::does_not_fit;
}

std::optional<double> HeatMap::value(CellIndex at, HeatQuantity quantity) const {
    if (state(at) != CellState::fits) return std::nullopt;
    const ScenarioValue& value = *cell(at);
    switch (quantity) {
        case HeatQuantity::tokens_per_s:
            return value.tokens_per_s();
        case HeatQuantity::device_memory:
            return static_cast<double>(value.fit.device().peak.bytes);
        case HeatQuantity::host_memory:
            return static_cast<double>(value.fit.host().peak.bytes);
        case HeatQuantity::usd_per_million_tokens:
            return value.usd_per_million_tokens;
    }
    return std::nullopt;
}

int HeatMap::computed() const {
    return static_cast<int>(
        std::ranges::count_if(cells_, [](const auto& cell) { return cell.has_value(); }));
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
    for (const VariedValue& setting : map.values(at)) {
        const QString unit = setting.number.option == nullptr
                                 ? QLatin1Char(' ') + qtext(setting.number.unit)
                                 : QString();
        parts << qtext(setting.number.label) + QLatin1Char(' ') +
                     qtext(value_label(setting.number, setting.value)) + unit;
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
            return HeatMapText::tr("not possible");
    }
    return {};
}

QString point_settings_name(PointSettings settings) {
    return settings == PointSettings::fastest ? HeatMapText::tr("fastest for each cell")
                                              : HeatMapText::tr("as in the scenario");
}

QString point_settings_sentence(PointSettings settings) {
    return settings == PointSettings::fastest
               ? HeatMapText::tr(
                     "Each cell has its own fastest settings; system, precision and clipping are "
                     "those of the scenario.")
               : HeatMapText::tr("All cells have the settings of the scenario beside the axes.");
}

QString cell_settings(const HeatMap& map, CellIndex at) {
    std::vector<Setting> settings = settings_beside_defaults(map.cell(at)->asked.training);
    for (const VariedValue& one : map.values(at))
        std::erase_if(settings,
                      [&](const Setting& setting) { return setting.field == one.number.key; });
    return qtext(setting_words(settings));
}

QStringList cell_lines(const HeatMap& map, CellIndex at, ByteUnits units) {
    QStringList lines = {cell_place(map, at), cell_state_name(map.state(at))};
    if (!map.cell(at)) return lines;
    const ScenarioValue& value = *map.cell(at);
    const QString reason = reason_text(value, units);
    if (!reason.isEmpty()) lines.back() += QStringLiteral(": ") + reason;
    if (!value.is_planned()) return lines;
    const QString speed =
        HeatMapText::tr("%1 tokens/s, %2 a step")
            .arg(qtext(format_thousands(value.tokens_per_s())), qtext(format_seconds(value.step)));
    lines << (value.fits() ? speed : HeatMapText::tr("without the memory limit: %1").arg(speed));
    if (const QString settings = cell_settings(map, at); !settings.isEmpty())
        lines << HeatMapText::tr("with %1").arg(settings);
    lines << HeatMapText::tr("device %1, host %2")
                 .arg(bytes(value.fit.device().peak.bytes, units),
                      bytes(value.fit.host().peak.bytes, units));
    if (value.fits() && value.usd_per_million_tokens)
        lines << HeatMapText::tr("%1 a million tokens")
                     .arg(qtext(format_usd(*value.usd_per_million_tokens)));
    if (!value.bottleneck.empty())
        lines << HeatMapText::tr("bound by %1").arg(qtext(value.bottleneck));
    return lines;
}

QStringList cell_captions(const HeatMap& map, CellIndex at, HeatQuantity quantity,
                          ByteUnits units) {
    switch (const CellState state = map.state(at)) {
        case CellState::not_computed:
            return {QString()};
        case CellState::fits: {
            const std::optional<double> value = map.value(at, quantity);
            if (!value) return {HeatMapText::tr("no price"), QString()};
            return {quantity_text(quantity, *value, units), QString()};
        }
        case CellState::does_not_fit: {
            const auto [name, missing] = largest_shortage(map.cell(at)->fit);
            const QString amount = bytes(missing, units);
            return {HeatMapText::tr("%1 short %2").arg(name, amount),
                    HeatMapText::tr("short %1").arg(amount), QLatin1Char('-') + amount, QString()};
        }
        case CellState::refused:
            return {cell_state_name(state), QStringLiteral("\u00d7")};
    }
    return {QString()};
}

Table heat_map_table(const HeatMap& map, ByteUnits units) {
    std::vector<CellIndex> cells;
    for (int id = 0; id < map.columns() * map.rows(); ++id) cells.push_back(cell_of(map, id));
    return cells.empty() ? Table() : table_of_cells(map, units, cells);
}

Row heat_map_row(const HeatMap& map, CellIndex at, ByteUnits units) {
    return table_of_cells(map, units, {at}).rows.front();
}

}  // namespace sluice

#include "sim/answers/search/sweep_rows.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/base/format.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

Json option_json(const TrainingSpec& training, const Option& option) {
    if (!option.choices.empty()) return option_text(training, option);
    return static_cast<std::int64_t>(option.get(training));
}

/// A row as pairs of key and value, in the order of the columns; null where it lacks the value.
std::vector<std::pair<std::string, Json>> columns(const SearchRow& row, const GridPoint& point,
                                                  bool best) {
    const TrainingSpec& t = point.training;
    const bool planned = row.state != RowState::excluded;
    const bool simulated = row.state == RowState::simulated;
    const auto when = [](bool there, Json value) { return there ? std::move(value) : Json(); };
    std::vector<std::pair<std::string, Json>> out = {
        {"row", row.index},
        {"model", point.model->name},
        {"layers", point.model->layer_count()},
        {"machine", point.machine->id},
        {"host_capacity_bytes", point.machine->host.memory_capacity}};
    for (const Option& option : training_options())
        out.emplace_back(option.field, option_json(t, option));
    const auto speed = [&](bool there, Seconds step) {
        return when(there, static_cast<double>(t.tokens()) / step);
    };
    const std::vector<std::pair<std::string, Json>> results = {
        {"state", row_state_name(row.state)},
        {"best", when(simulated, best)},
        {"tokens_per_s", speed(simulated, row.step)},
        {"tokens_per_s_5_percent", speed(row.has_band(), row.step_high)},
        {"tokens_per_s_95_percent", speed(row.has_band(), row.step_low)},
        {"tokens_per_s_at_most", speed(row.fits(), row.at_least)},
        {"step_s", when(simulated, row.step)},
        {"step_5_percent_s", when(row.has_band(), row.step_low)},
        {"step_95_percent_s", when(row.has_band(), row.step_high)},
        {"step_at_least_s", when(row.fits(), row.at_least)},
        {"bottleneck", when(simulated, row.bottleneck)},
        {"device_peak_bytes", when(planned, row.device_peak)},
        {"host_peak_bytes", when(planned, row.host_peak)},
        {"storage_peak_bytes", when(planned, row.storage_peak)},
        {"device_short_bytes", when(planned, row.device_short)},
        {"host_short_bytes", when(planned, row.host_short)},
        {"storage_short_bytes", when(planned, row.storage_short)},
        {"reason", when(!planned, row.reason)}};
    out.insert(out.end(), results.begin(), results.end());
    return out;
}

/// The same scenario: all columns before its results are equal.
bool same_scenario(const Json& line, const SearchRow& row, const GridPoint& point) {
    for (const auto& [key, value] : columns(row, point, false)) {
        if (key == "state") return true;
        if (!line.contains(key) || line.at(key) != value) return false;
    }
    return true;
}

}  // namespace

std::string row_json(const SearchRow& row, const GridPoint& point, bool best) {
    Json out;
    for (auto& [key, value] : columns(row, point, best))
        if (!value.is_null()) out[key] = std::move(value);
    return out.dump() + "\n";
}

std::string csv_header() {
    static const ModelSpec model;
    static const MachineSpec machine;
    std::string out;
    for (const auto& [key, value] : columns({}, {&model, &machine, {}, {}}, false))
        out += (out.empty() ? "" : ",") + key;
    return out + "\n";
}

std::string row_csv(const SearchRow& row, const GridPoint& point, bool best) {
    std::string out;
    for (const auto& [key, value] : columns(row, point, best)) {
        if (key != "row") out += ',';
        if (value.is_string())
            out += csv_text(value.get<std::string>());
        else if (!value.is_null())
            out += value.dump();
    }
    return out + "\n";
}

SearchRow parse_row(const std::string& line, const ScenarioGrid& grid, const std::string& where) {
    const auto wrong = [&] {
        return InputError(fmt::format(
            "{} is no row of this sweep; remove the file to begin anew, or give another name",
            where));
    };
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) throw wrong();
    try {
        SearchRow row;
        row.index = json.at("row").get<std::size_t>();
        if (row.index >= grid.size() || json.at("state") != row_state_name(RowState::simulated) ||
            !same_scenario(json, row, grid.at(row.index)))
            throw wrong();
        row.state = RowState::simulated;
        row.at_least = json.at("step_at_least_s");
        row.step = json.at("step_s");
        row.step_low = json.value("step_5_percent_s", 0.0);
        row.step_high = json.value("step_95_percent_s", 0.0);
        row.bottleneck = json.at("bottleneck");
        row.device_peak = json.at("device_peak_bytes");
        row.host_peak = json.at("host_peak_bytes");
        row.storage_peak = json.at("storage_peak_bytes");
        return row;
    } catch (const Json::exception&) {
        throw wrong();
    }
}

}  // namespace sluice

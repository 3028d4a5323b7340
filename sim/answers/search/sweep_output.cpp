#include "sim/answers/search/sweep_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/format.h"
#include "sim/plan/step.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

Json option_json(const TrainingSpec& training, const Option& option) {
    if (!option.choices.empty()) return option_text(training, option);
    return static_cast<std::int64_t>(option.get(training));
}

using Columns = std::vector<std::pair<std::string, Json>>;

/// A row as pairs of key and value, in the order of the columns; null for missing values.
Columns columns(const SearchRow& row, const GridPoint& point, bool best) {
    const TrainingSpec& t = point.training;
    const bool planned = row.state != RowState::excluded;
    const bool simulated = row.state == RowState::simulated;
    const auto when = [](bool there, Json value) { return there ? std::move(value) : Json(); };
    Columns out = {{"row", row.index},
                   {"model", point.model->name},
                   {"layers", point.model->layer_count()},
                   {"machine", point.machine->id},
                   {"host_capacity_bytes", point.machine->host.memory_capacity}};
    for (const Option& option : training_options())
        out.emplace_back(option.field, option_json(t, option));
    const auto speed = [&](bool there, Seconds step) {
        return when(there, static_cast<double>(t.tokens()) / step);
    };
    const Columns results = {{"state", row_state_name(row.state)},
                             {"best", when(simulated, best)},
                             {"tokens_per_s", speed(simulated, row.step)},
                             {"tokens_per_s_5_percent", speed(row.has_band(), row.step_high)},
                             {"tokens_per_s_95_percent", speed(row.has_band(), row.step_low)},
                             {"tokens_per_s_at_most", speed(row.fits(), row.at_least)},
                             {"step_s", when(simulated, row.step)},
                             {"step_5_percent_s", when(row.has_band(), row.step_low)},
                             {"step_95_percent_s", when(row.has_band(), row.step_high)},
                             {"step_at_least_s", when(row.fits(), row.at_least)},
                             {"bottleneck", when(simulated, bottleneck_name(row.bottleneck))},
                             {"device_peak_bytes", when(planned, row.device_peak)},
                             {"host_peak_bytes", when(planned, row.host_peak)},
                             {"storage_peak_bytes", when(planned, row.storage_peak)},
                             {"device_short_bytes", when(planned, row.device_short)},
                             {"host_short_bytes", when(planned, row.host_short)},
                             {"storage_short_bytes", when(planned, row.storage_short)},
                             {"reason", planned ? Json() : Json(why_excluded(point)->what())}};
    out.insert(out.end(), results.begin(), results.end());
    return out;
}

Columns chosen_columns(const SearchRow& row, const GridPoint& point, bool best,
                       const std::vector<std::string>& keys) {
    const Columns all = columns(row, point, best);
    Columns chosen;
    for (const std::string& key : keys)
        chosen.push_back(*std::ranges::find(all, key, &std::pair<std::string, Json>::first));
    return chosen;
}

}  // namespace

std::vector<std::string> sweep_columns() {
    static const ModelSpec model;
    static const MachineSpec machine;
    SearchRow row;
    row.state = RowState::too_large;
    std::vector<std::string> keys;
    for (const auto& [key, value] : columns(row, {&model, &machine, {}, {}}, false))
        keys.push_back(key);
    return keys;
}

std::string row_json(const SearchRow& row, const GridPoint& point, bool best,
                     const std::vector<std::string>& keys) {
    Json out = Json::object();
    for (auto& [key, value] : chosen_columns(row, point, best, keys))
        if (!value.is_null()) out[key] = std::move(value);
    // Names come from files; a byte that is no UTF-8 must not cost the search.
    return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string csv_header(const std::vector<std::string>& keys) {
    return fmt::format("{}\n", fmt::join(keys, ","));
}

std::string row_csv(const SearchRow& row, const GridPoint& point, bool best,
                    const std::vector<std::string>& keys) {
    std::string out;
    for (const auto& [key, value] : chosen_columns(row, point, best, keys)) {
        if (key != keys.front()) out += ',';
        if (value.is_string())
            out += csv_text(value.get<std::string>());
        else if (!value.is_null())
            out += value.dump();
    }
    return out + "\n";
}

}  // namespace sluice

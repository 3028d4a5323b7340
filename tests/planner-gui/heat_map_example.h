// A small heat map with a cell of each state.
#pragma once

#include "planner-gui/pictures/heat_map.h"

namespace sluice {

inline VariedNumber example_option(const std::string& field) {
    for (const Option& option : training_options())
        if (option.field == field) return varied_option(option);
    throw std::runtime_error(field);
}

inline ScenarioValue example_cell(std::int64_t tokens_per_s, Bytes host) {
    ScenarioValue cell;
    cell.step = 2;
    cell.asked.training.batch = 2 * tokens_per_s;
    cell.asked.training.sequence = 1;
    cell.fit.device().peak.bytes = cell.fit.device().usable = 20'000'000'000;
    cell.fit.host().peak.bytes = cell.fit.host().usable = host;
    cell.usd_per_million_tokens = 5.0 / 3600 / static_cast<double>(tokens_per_s) * 1e6;
    cell.bound_by = cell.bottleneck = "GPU compute";
    return cell;
}

/// 3 batches x 2 sequences; (2, 0) does not fit, (2, 1) is refused, (1, 1) is not computed.
inline HeatMap example_map() {
    HeatMap map({example_option("batch"), {8, 16, 32}}, {example_option("seq"), {1024, 2048}},
                PointSettings::fastest);
    map.set_cell({0, 0}, example_cell(1000, 50'000'000'000));
    map.set_cell({1, 0}, example_cell(3000, 60'000'000'000));
    map.set_cell({0, 1}, example_cell(2000, 70'000'000'000));
    ScenarioValue large = example_cell(4000, 250'000'000'000);
    large.fit.host().usable = 238'600'000'000;
    large.fit.device().usable = 19'000'000'000;
    large.shortages = {
        {"host", 250'000'000'000, 238'600'000'000, MemoryKind::optimizer_state, 120'000'000'000}};
    map.set_cell({2, 0}, large);
    ScenarioValue refused;
    refused.refused = "--batch is 32, expected a multiple of --micro-batch (3)";
    map.set_cell({2, 1}, refused);
    return map;
}

}  // namespace sluice

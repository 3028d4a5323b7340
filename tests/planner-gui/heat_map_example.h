// A small heat map with a cell of each state.
#pragma once

#include "planner-gui/pictures/heat_map.h"

namespace sluice {

inline VariedNumber example_option(const std::string& field) {
    for (const Option& option : training_options())
        if (option.field == field) return varied_option(option);
    throw std::runtime_error(field);
}

inline HeatCell example_cell(double tokens_per_s, Bytes host) {
    HeatCell cell;
    cell.state = CellState::fits;
    cell.tokens_per_s = tokens_per_s;
    cell.step = 2;
    cell.device = 20'000'000'000;
    cell.host = host;
    cell.usd_per_million_tokens = 5.0 / 3600 / tokens_per_s * 1e6;
    cell.bottleneck = "GPU compute";
    return cell;
}

/// 3 batches x 2 sequences; (2, 0) does not fit, (2, 1) is refused, (1, 1) is not computed.
inline HeatMap example_map() {
    HeatMap map({example_option("batch"), {8, 16, 32}}, {example_option("seq"), {1024, 2048}});
    map.set_cell({0, 0}, example_cell(1000, 50'000'000'000));
    map.set_cell({1, 0}, example_cell(3000, 60'000'000'000));
    map.set_cell({0, 1}, example_cell(2000, 70'000'000'000));
    HeatCell large = example_cell(4000, 250'000'000'000);
    large.state = CellState::does_not_fit;
    large.host_short = 11'400'000'000;
    large.device_short = 1'000'000'000;
    large.shortages = {
        {"host", 250'000'000'000, 238'600'000'000, MemoryKind::optimizer_state, 120'000'000'000}};
    map.set_cell({2, 0}, large);
    HeatCell refused;
    refused.state = CellState::refused;
    refused.reason = "--batch is 32, expected a multiple of --micro-batch (3)";
    map.set_cell({2, 1}, refused);
    return map;
}

}  // namespace sluice

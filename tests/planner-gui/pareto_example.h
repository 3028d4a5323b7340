// Machines with speeds and prices that are easy to compare.
#pragma once

#include "planner-gui/pictures/pareto.h"

namespace sluice {

inline MachineSystem example_row(const std::string& machine, double tokens_per_s,
                                 double usd_per_hour, const std::string& system = "streamed") {
    ScenarioValue value;
    value.asked.model_name = "a-model";
    value.asked.training.batch = 8;
    value.asked.training.sequence = 1000;
    value.step = 8000 / tokens_per_s;
    value.step_low = 0.9 * value.step;
    value.step_high = 1.25 * value.step;
    value.fit.device().peak.bytes = value.fit.device().usable = 20'000'000'000;
    value.fit.host().peak.bytes = value.fit.host().usable = 100'000'000'000;
    value.usd_per_hour = usd_per_hour;
    value.usd_per_million_tokens = usd_per_hour / 3600 / tokens_per_s * 1e6;
    value.price_of = "a cloud, rented";
    return {machine, system, value};
}

/// With too little host memory.
inline MachineSystem does_not_fit(MachineSystem row) {
    row.value.fit.host().usable = 64'000'000'000;
    row.value.shortages = {
        {"host", 100'000'000'000, 64'000'000'000, MemoryKind::optimizer_state, 80'000'000'000}};
    return row;
}

/// slow and fast are on the front of $/h, beaten is not; the others are not plotted.
inline std::vector<MachineSystem> example_rows() {
    MachineSystem unpriced = example_row("unpriced", 9000, 0);
    unpriced.value.usd_per_hour.reset();
    unpriced.value.usd_per_million_tokens.reset();
    MachineSystem refused{"odd", "streamed", {}};
    refused.value.refused = "odd: host.memory_capacity_gb is not known";
    return {example_row("fast", 4000, 4),
            example_row("beaten", 2000, 5),
            does_not_fit(example_row("small", 9000, 0.5)),
            example_row("slow", 1000, 2),
            unpriced,
            refused};
}

}  // namespace sluice

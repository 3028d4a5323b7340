// Machines with speeds and prices that are easy to compare.
#pragma once

#include "planner-gui/pictures/pareto.h"

namespace sluice {

inline ParetoRow example_row(const std::string& machine, double tokens_per_s, double usd_per_hour,
                             const std::string& system = "streamed") {
    ParetoRow row;
    row.machine = machine;
    row.system = system;
    row.planned = row.fits = true;
    row.model = "a-model";
    row.batch = 8;
    row.sequence = 1000;
    row.step = 8000 / tokens_per_s;
    row.step_low = 0.9 * row.step;
    row.step_high = 1.25 * row.step;
    row.device = 20'000'000'000;
    row.host = 100'000'000'000;
    row.usd_per_hour = usd_per_hour;
    row.usd_per_million_tokens = usd_per_hour / 3600 / tokens_per_s * 1e6;
    row.price_of = "a cloud, rented";
    return row;
}

/// slow and fast are on the front of $/h, beaten is not; the others are not plotted.
inline std::vector<ParetoRow> example_rows() {
    ParetoRow misfit = example_row("small", 9000, 0.5);
    misfit.fits = false;
    misfit.shortages = {
        {"host", 100'000'000'000, 64'000'000'000, MemoryKind::optimizer_state, 80'000'000'000}};
    ParetoRow unpriced = example_row("unpriced", 9000, 0);
    unpriced.usd_per_hour.reset();
    unpriced.usd_per_million_tokens.reset();
    unpriced.reason = "no price in the machine's profile";
    ParetoRow refused;
    refused.machine = "odd";
    refused.system = "streamed";
    refused.reason = "odd: host.memory_capacity_gb is not known";
    return {example_row("fast", 4000, 4),
            example_row("beaten", 2000, 5),
            misfit,
            example_row("slow", 1000, 2),
            unpriced,
            refused};
}

}  // namespace sluice

// A picture of what memory holds at its peak, by kind, of several machines.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/step_plan.h"

namespace sluice {

struct MemoryBar {
    std::string name;
    Fit fit;
    bool unified = false;  ///< host and device are one pool: shown once, beside the hosts
};

/// Two groups of bars, device and host; each bar's kinds add up to its peak, a line marks what
/// there is. Precondition: a bar at least.
std::string memory_bars_svg(const std::vector<MemoryBar>& bars);

}  // namespace sluice

// What does memory hold at its peak, by kind, on several machines?
#pragma once

#include <string>
#include <vector>

#include "sim/plan/step_plan.h"
#include "sim/report/picture.h"

namespace sluice {

struct MemoryBar {
    std::string name;
    Fit fit;
    bool unified = false;  ///< host and device are one pool: shown once, beside the hosts
};

/// Two groups of bars, device and host; each bar's kinds add up to its peak, a line marks what
/// there is. Precondition: a bar at least.
Picture memory_bars_picture(const std::vector<MemoryBar>& bars, const PictureSpace& space = {});

}  // namespace sluice

// Which machines are on a front of cost and speed?
#pragma once

#include <vector>

#include "sim/answers/search/machine_choice.h"

namespace sluice {

struct FrontMarks {
    bool by_hour = false;   ///< of $ an hour
    bool by_token = false;  ///< of $ per million tokens
};

/// A point of a front: which machine, what it costs, how fast it is.
struct MachinePoint {
    std::size_t machine = 0;
    double usd = 0, tokens_per_s = 0;
    bool on_front = false;
};

enum class CostAxis { usd_per_hour, usd_per_million_tokens };

/// The points of machines that reach the goal and have a price.
std::vector<MachinePoint> machine_points(const MachineChoices& choices, CostAxis axis);

/// One a machine, in their order.
std::vector<FrontMarks> front_marks(const MachineChoices& choices);

}  // namespace sluice

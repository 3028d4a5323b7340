#include "sim/simulate/power_budget.h"

#include <algorithm>

namespace sluice {

Seconds PowerBudget::begin(Seconds now, const KernelCost& cost) {
    if (clock_.headroom_j == 0 || cost.seconds <= 0) return cost.seconds;
    const auto leave = [this](double joules) {
        joules_ = std::min(clock_.headroom_j, joules_ + joules);
    };
    leave((clock_.limit_w - clock_.idle_w) * (now - idle_since_));

    const double beyond = cost.joules - clock_.limit_w * cost.seconds;
    if (beyond <= joules_) {
        leave(-beyond);
        return cost.seconds;
    }
    const double at_highest = joules_ / beyond;  // share of the work
    joules_ = 0;
    // The rest at a clock between the two, at which it draws what the limit is. Time and energy are
    // taken as linear between them.
    const Seconds longer = cost.at_limit - cost.seconds;
    const double saved = cost.joules * (1 - clock_.energy_share) + clock_.limit_w * longer;
    const double slowed = saved > 0 ? std::min(1.0, beyond / saved) : 1.0;
    return cost.seconds + (1 - at_highest) * slowed * longer;
}

}  // namespace sluice

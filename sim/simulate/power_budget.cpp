#include "sim/simulate/power_budget.h"

#include <algorithm>

namespace sluice {

Seconds PowerBudget::begin(Seconds now, const KernelCost& cost) {
    if (clock_.headroom_j == 0 || cost.rested <= 0) return cost.seconds;
    const auto leave = [this](double joules) {
        joules_ = std::min(clock_.headroom_j, joules_ + joules);
    };
    leave((clock_.limit_w - clock_.idle_w) * (now - idle_since_));

    const double beyond_j = cost.rested_j - clock_.limit_w * cost.rested;
    if (beyond_j <= joules_) {
        leave(-beyond_j);
        return cost.rested;
    }
    const double at_highest = joules_ / beyond_j;  // share of the work
    joules_ = 0;
    // The rest at a clock between the two, at which it draws what the limit is. Time and energy are
    // taken as linear between them.
    const double saved_j =
        cost.rested_j * (1 - clock_.energy_share()) + clock_.limit_w * (cost.seconds - cost.rested);
    const double slowing = saved_j > 0 ? std::min(1.0, beyond_j / saved_j) : 1.0;
    return cost.rested + (1 - at_highest) * slowing * (cost.seconds - cost.rested);
}

}  // namespace sluice

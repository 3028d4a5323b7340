// How long is the step if the host is slower or faster today than its profile says?
#pragma once

#include <vector>

#include "sim/plan/host_rates.h"
#include "sim/plan/step.h"
#include "sim/specs/machine/rate_group.h"

namespace sluice {

/// The step with all rates of a group at `factor` times the machine's.
struct StepAtRate {
    RateGroup group = RateGroup::none;
    double factor = 1;
    Seconds step = 0;
};

struct OtherRates {
    HostRates profile;
    std::vector<StepAtRate> steps;  ///< of optimizer and link, by rising factors
};

/// Simulates the plan at half to one and a half times the rates: twelve simulations.
OtherRates at_other_rates(const TimedPlan& timed, const MachineSpec& machine);

}  // namespace sluice

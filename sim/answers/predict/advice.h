// Which changes would help: settings that fit, rates that would hide the waits of compute?
#pragma once

#include <set>
#include <string>

#include "sim/answers/predict/prediction.h"
#include "sim/specs/scenario/price.h"

namespace sluice {

/// Settings near those of a plan that does not fit. If the host is short, the memory with which
/// they fit; where the plan is chosen beside the given options, the least with which one is. No
/// remedies.
StepAdvice find_suggestions(const TimedPlan& timed, const ModelSpec& model,
                            const MachineSpec& machine,
                            const std::set<std::string>* chosen_beside = nullptr,
                            const PriceList& prices = {});

/// Rates that would hide lanes that compute waits for, from some tens of simulations. Empty for
/// plans too large for that within a tenth of a second.
std::vector<Remedy> find_remedies(const TimedPlan& timed, const MachineSpec& machine);

}  // namespace sluice

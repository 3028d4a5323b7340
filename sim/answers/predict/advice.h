// Which changes would help: settings that fit, rates that would hide the waits of compute?
#pragma once

#include "sim/answers/predict/prediction.h"

namespace sluice {

/// Settings near those of a plan that does not fit. If the host is short with all settings, the
/// ones that fit with the memory that they need. No remedies.
StepAdvice find_suggestions(const TimedPlan& timed, const ModelSpec& model,
                            const MachineSpec& machine);

/// Rates that would hide lanes that compute waits for, from some tens of simulations. Empty for
/// plans too large for that within a tenth of a second.
std::vector<Remedy> find_remedies(const TimedPlan& timed, const MachineSpec& machine);

}  // namespace sluice

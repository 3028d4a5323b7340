// What would have to change: rates that would hide what limits, settings that fit.
#pragma once

#include "sim/answers/predict/prediction.h"

namespace sluice {

/// Settings that fit near those of a plan that does not. Where the host is short whatever the
/// settings, those that fit with the memory that it needs. No remedies.
StepAdvice find_suggestions(const TimedPlan& timed, const ModelSpec& model,
                            const MachineSpec& machine);

/// Rates that would hide what compute waits for, from some tens of simulations. Plans too large for
/// that within a tenth of a second get none.
std::vector<Remedy> find_remedies(const TimedPlan& timed, const MachineSpec& machine);

}  // namespace sluice

// What would have to change: rates that would hide what limits, settings that fit.
#pragma once

#include "sim/simulate/predict.h"

namespace sluice {

/// Settings that fit, of a report that does not. Where the host is short whatever the settings,
/// those that fit with the memory that it needs.
std::vector<Suggestion> suggestions(const ModelSpec& model, const MachineSpec& machine,
                                    const StepReport& report);

/// Adds remedies (some tens of simulations) and, where the plan does not fit, suggestions to a
/// report of predict(). Plans too large for that within a tenth of a second get no remedies.
void add_advice(StepReport& report, const ModelSpec& model, const MachineSpec& machine);

}  // namespace sluice

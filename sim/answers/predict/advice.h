// What would have to change: rates that would hide what limits, settings that fit.
#pragma once

#include "sim/answers/predict/predict.h"

namespace sluice {

/// Adds settings that fit to a report of predict() that does not. Where the host is short whatever
/// the settings, those that fit with the memory that it needs.
void add_suggestions(StepReport& report, const ModelSpec& model, const MachineSpec& machine);

/// Adds remedies (some tens of simulations) to a report of predict(). Plans too large for that
/// within a tenth of a second get none.
void add_remedies(StepReport& report, const ModelSpec& model, const MachineSpec& machine);

}  // namespace sluice

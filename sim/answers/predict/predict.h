// From the three specs to a report: plan, check the fit, simulate, find the bound.
#pragma once

#include "sim/plan/step_report.h"
#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// Predicts a steady step. A plan that does not fit is simulated as if it did; the report says by
/// how much it does not. Throws InputError where the training spec breaks a rule.
StepReport predict(const ModelSpec& model, const MachineSpec& machine,
                   const TrainingSpec& training);

}  // namespace sluice

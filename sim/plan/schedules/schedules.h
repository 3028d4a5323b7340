// The schedules: each turns model, machine and settings into a plan, and stands in a file of its
// own.
#pragma once

#include "sim/plan/step_plan.h"

namespace sluice {

/// Ours: weights streamed twice a step, one recompute, gradients leave and are applied while
/// backward goes on.
StepPlan plan_streamed(const ModelSpec& model, const MachineSpec& machine,
                       const TrainingSpec& training);

/// MegaTrain's at its public commit 919520f: three forwards, weights streamed three times, a serial
/// optimizer.
StepPlan plan_megatrain(const ModelSpec& model, const MachineSpec& machine,
                        const TrainingSpec& training);

}  // namespace sluice

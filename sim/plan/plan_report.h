// What does a plan alone say, and what do the times of its operations add? Predicted and measured
// reports are made of both.
#pragma once

#include "sim/plan/step_report.h"

namespace sluice {

/// Everything but the times. Takes the plan's operations and buffers.
StepReport report_of_plan(const ModelSpec& model, const MachineSpec& machine,
                          const TrainingSpec& training, StepPlan plan);

/// Adds when each operation of a steady step of `step` seconds ran, and which lane sets its speed.
void add_times(StepReport& report, std::vector<OperationInterval> operations, Seconds step);

}  // namespace sluice

// Which recomputation, micro-batches and resident layers make a step fastest on this machine?
#pragma once

#include <set>
#include <string>

#include "sim/answers/predict/prediction.h"

namespace sluice {

/// The fastest training with the asked batch, sequence, states and schedule that fits the machine.
/// Options of `fixed`, by their fields, stay as asked. Simulates some hundred steps: 0.5 s for 80
/// layers. Where nothing fits, or the schedule has no resident layers, the choice is what was
/// asked. Throws InputError where the training breaks a rule.
PlanChoice choose_plan(const ModelSpec& model, const MachineSpec& machine,
                       const TrainingSpec& training, const std::set<std::string>& fixed);

}  // namespace sluice

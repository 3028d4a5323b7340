// Which settings of a system are the fastest for a batch?
#pragma once

#include <set>
#include <string>

#include "sim/plan/step_plan.h"

namespace sluice {

/// The settings that advise() finds for the given schedule, GPUs, batch and sequence; options with
/// fields of `fixed` keep their values. The given training if nothing fits. Throws InputError if
/// what is fixed breaks a rule.
TrainingSpec fastest_settings(const ModelSpec& model, const MachineSpec& machine,
                              const TrainingSpec& training, const std::set<std::string>& fixed);

}  // namespace sluice

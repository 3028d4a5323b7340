// Which plan does the planner, a program of its own beside this one, choose for a machine?
#pragma once

#include "engine/train/expected_step.h"
#include "sim/specs/scenario/scenario.h"

namespace sluice {

/// The fastest plan with the options that were given, as `sluice predict` chooses it. Host memory:
/// as given, else no more than there is here. Prints it. Throws InputError
/// if the planner is not in the folder of this program, or if it refuses the scenario, for which it
/// says the reason on standard error itself.
ExpectedStep choose_step(PlannedScenario asked, const std::optional<std::string>& host_memory);

}  // namespace sluice

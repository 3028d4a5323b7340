// Which step does the planner expect? A build may lack it, where SimGrid cannot be had.
#pragma once

#include <cstdint>

#include "engine/train/expected_step.h"
#include "sim/specs/scenario/scenario.h"

namespace sluice {

enum class PlanSearch : std::uint8_t { none, fastest };

bool built_with_planner();

/// The fastest plan's step with the options that the scenario gives, or that of these options where
/// nothing is searched. Throws InputError if the scenario has a mistake, if its plan does not fit,
/// or if this program was built without the planner.
ExpectedStep predicted_step(const PlannedScenario& asked, PlanSearch search);

}  // namespace sluice

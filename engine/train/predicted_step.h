// Which step does the planner expect? A build may lack it, where SimGrid cannot be had.
#pragma once

#include "engine/train/expected_step.h"
#include "sim/answers/predict/prediction.h"
#include "sim/specs/scenario/scenario.h"

namespace sluice {

/// Whether predicted_step() can answer.
bool built_with_planner();

/// The step with the options that the scenario gives, and with these settings for the others; the
/// planner's are those of the fastest plan. Throws InputError if the scenario has a mistake, if its
/// plan does not fit, or if this program was built without the planner.
ExpectedStep predicted_step(const PlannedScenario& asked, SettingsOf settings);

}  // namespace sluice

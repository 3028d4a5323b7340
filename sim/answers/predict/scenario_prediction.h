// How is a scenario predicted, as typed?
#pragma once

#include "sim/answers/predict/predict.h"
#include "sim/specs/scenario/scenario.h"

namespace sluice {

/// Resolves the scenario and predicts it with these settings; options that it gives keep their
/// values. With SettingsOf::schedule a faster plan is looked for if suggestions are wanted. Prices
/// and the choice of settings in `wanted` are set here. Throws InputError where resolve() or
/// predict() does.
Prediction predict_scenario(const PlannedScenario& asked, SettingsOf settings, Wanted wanted);

}  // namespace sluice

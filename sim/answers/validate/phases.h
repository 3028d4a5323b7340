// Into which parts, one after another, does a step fall?
#pragma once

#include <string>
#include <vector>

#include "sim/plan/step.h"

namespace sluice {

/// The names of step_phases(), as keys.
std::vector<std::string> phase_names(Schedule schedule);

/// Seconds of each of the schedule's phases; together they are the step, but for what MegaTrain
/// leaves between its own. Precondition: the report has operations.
std::vector<Seconds> step_phases(const TimedPlan& report);

}  // namespace sluice

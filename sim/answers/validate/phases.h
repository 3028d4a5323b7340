// Into which parts, one after another, does a step fall?
#pragma once

#include <string>
#include <vector>

#include "sim/plan/step.h"

namespace sluice {

/// The names of step_phases(), as keys.
std::vector<std::string> phase_names(Schedule schedule);

/// Seconds of each phase; together they are the step, but for what MegaTrain leaves between its
/// own. `streamed`: forward, loss and backward last from the first operation of the kind on the
/// compute lane to the first of the next, and the tail until the next step's first compute.
/// `megatrain`: as that system times itself. All others: forward with the loss, backward until
/// all gradients have arrived, then what the optimizer does. Precondition: the report has
/// operations.
std::vector<Seconds> step_phases(const TimedPlan& report);

}  // namespace sluice

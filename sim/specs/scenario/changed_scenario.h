// How does a scenario look with another value, machine or system? Flags, suggestions, axes and
// comparisons change a planned scenario.
#pragma once

#include <set>
#include <string>

#include "sim/base/units.h"
#include "sim/specs/scenario/scenario.h"

namespace sluice {

/// The fields of the training options that it gives.
std::set<std::string> given_options(const PlannedScenario& planned);

/// `base` with all values that `over` gives. What-if values of both count; later ones replace
/// earlier ones.
PlannedScenario overlaid(PlannedScenario base, const PlannedScenario& over);

/// `planned` with settings, each applied like with_value().
PlannedScenario with_settings(PlannedScenario planned, const std::vector<Setting>& settings);

/// `planned` with another value of a field: one of training_options() or money_options(), `layers`,
/// `model`, `machine`, `host_memory`, or a number of the machine's profile by its path. An empty
/// value removes what was given. The size of host memory is always `host_memory`, since a what-if
/// value could contradict it.
PlannedScenario with_value(PlannedScenario planned, const std::string& field,
                           const std::string& value);

/// `planned` on another machine with another schedule. Options that the schedule does not have are
/// left out. What-if values of the machine's profile are removed, and so are a price, rent or
/// offer; whether the machine is rented or bought stays, but it is not owned. Its host is the other
/// machine's own. Mistakes in either scenario stay; resolve() reports them.
PlannedScenario on_machine(PlannedScenario planned, const std::string& machine,
                           const std::string& schedule);

}  // namespace sluice

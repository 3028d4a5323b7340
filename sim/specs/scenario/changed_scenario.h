// What is a scenario with another value, machine or system? Flags, suggestions, axes and
// comparisons change the one that somebody planned.
#pragma once

#include <string>

#include "sim/base/units.h"
#include "sim/specs/scenario/scenario.h"

namespace sluice {

/// `base` with all that `over` says. What-if values of both count; later ones replace earlier ones.
PlannedScenario overlaid(PlannedScenario base, const PlannedScenario& over);

/// `planned` with settings, each as with_value() does.
PlannedScenario with_settings(PlannedScenario planned, const std::vector<Setting>& settings);

/// `planned` with another value of a field: one of training_options() or money_options(),
/// `layers`, `model`, `machine`, `host_memory`, or a number of the machine's profile by its path.
/// An empty value takes back what was given.
/// How much the host holds is always `host_memory`: where a what-if value said so too, the two
/// could differ.
PlannedScenario with_value(PlannedScenario planned, const std::string& field,
                           const std::string& value);

/// `planned` on another machine with another schedule; options that the schedule does not have are
/// left out. What-if values of the machine's profile are of that machine, and so are a price, rent
/// or offer: they go too, and whether it is bought or rented stays. `host_memory` is taken where
/// the other's profile does not say how much it has; 0: it is not known. Mistakes in either stay,
/// for resolve() to name.
PlannedScenario on_machine(PlannedScenario planned, const std::string& machine,
                           const std::string& schedule, Bytes host_memory);

}  // namespace sluice

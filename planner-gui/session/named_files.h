// What do the files hold that a scenario names? A prediction is as old as they were.
#pragma once

#include <string>

#include "sim/specs/scenario/planned_scenario.h"

namespace sluice {

/// Their texts; empty where a name of the library stands, or the file cannot be read.
struct NamedFiles {
    std::string model, machine;
    bool operator==(const NamedFiles&) const = default;
};

/// As they are now. Nothing is thrown: what is wrong with them resolve() says.
NamedFiles read_named_files(const PlannedScenario& planned);

}  // namespace sluice

// What do the rows of a sweep rest on? Rows of an interrupted sweep are taken over only where all
// of it is still the same.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/answers/search/scenario_grid.h"
#include "sim/specs/machine/machine_profile.h"

namespace sluice {

/// Names of its parts, in words, each with a text that is another where the part has changed.
using SweepBasis = std::vector<std::pair<std::string, std::string>>;

/// Of the grid's models and options; `profiles` are those of its machines, what-if values included;
/// `program` is what tells one build from another.
SweepBasis sweep_basis(const ScenarioGrid& grid, const std::vector<MachineProfile>& profiles,
                       const std::string& program);

/// `version` and a hash of the running program's file, or the version alone where that cannot be
/// read.
std::string program_identity(const std::string& version);

/// The parts that are not alike, as words: "the machines and the program". Empty: all are.
std::string changed_parts(const SweepBasis& then, const SweepBasis& now);

}  // namespace sluice

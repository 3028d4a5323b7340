// How are training settings written, and which assumptions do several predictions share?
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/specs/scenario/training_spec.h"

namespace sluice {

struct Comparison;

/// The options that the schedule has, by field.
nlohmann::ordered_json settings_json(const TrainingSpec& training);
/// The options that differ from their defaults, as flags, batch and sequence always.
std::string settings_flags(const TrainingSpec& training);

/// The systems that rest on the same sentences, with these, in order of first mention.
using GroupedAssumptions =
    std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>>;
GroupedAssumptions grouped_assumptions(const Comparison& comparison);

}  // namespace sluice

// Which buffers can be smaller where memory is short?
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// The training with one buffer smaller, with two, ...: what costs the least time first. Buffers
/// whose options are fixed, or that are as small, stay. Empty for schedules without resident
/// layers.
std::vector<TrainingSpec> tighter_buffers(const TrainingSpec& asked,
                                          const std::set<std::string>& fixed);

}  // namespace sluice

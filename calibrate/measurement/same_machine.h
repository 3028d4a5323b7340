// Are two measurements of one machine, in the same settings?
#pragma once

#include <string>
#include <vector>

#include "calibrate/measurement/measurements.h"

namespace sluice {

/// What differs, "the GPU is "B", was "A"" each; empty: one machine, as far as it says of itself.
/// Sizes of memory may differ by 3%.
std::vector<std::string> machine_differences(const MachineFacts& before, const MachineFacts& now);

}  // namespace sluice

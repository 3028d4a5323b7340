// Are the errors of a validation within what is allowed?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answers/validate/validation.h"

namespace sluice {

/// Largest sizes of errors, as fractions; none: any.
struct Limits {
    std::optional<double> throughput;       ///< of each run's tokens/s
    std::optional<double> mean_throughput;  ///< of tokens/s, the mean over all runs
    std::optional<double> memory;           ///< of each run's device and host memory
};

/// A sentence for each limit that is exceeded, with the runs that exceed it.
std::vector<std::string> beyond_limits(const Validation& validation, const Limits& limits);

}  // namespace sluice

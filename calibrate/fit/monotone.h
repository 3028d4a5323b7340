// Which curve that only rises, or only falls, is nearest to these measurements?
#pragma once

#include <span>
#include <vector>

namespace sluice {

enum class Monotone { increasing, decreasing };

/// The monotone values that minimize the sum of weight (value - result)^2, in the order given: pool
/// adjacent violators (Barlow, Bartholomew, Bremner and Brunk 1972). Equal neighbours are allowed.
/// Precondition: one weight a value, all > 0.
std::vector<double> isotonic(std::span<const double> values, std::span<const double> weights,
                             Monotone direction);

}  // namespace sluice

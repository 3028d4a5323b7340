// What may stand in a profile?
#pragma once

#include "sim/specs/machine/machine_profile.h"

namespace sluice {

/// What any number of a profile may be, in its unit; 1e9 GB is the most whose bytes fit 64 bits.
inline constexpr double kSmallestQuantity = 1e-12;
inline constexpr double kLargestQuantity = 1e9;

/// Checks a measured curve whose shape is known: no rate that falls so fast that more bytes take
/// less time, shares between 0 and a little over 1, no gap among the lanes. Throws InputError: what
/// (`where`), value, expected, how to measure it again.
void check_curve(const Curve& curve, const std::string& where);

}  // namespace sluice

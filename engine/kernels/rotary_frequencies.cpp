#include "engine/kernels/rotary_frequencies.h"

#include <cmath>
#include <numbers>

namespace sluice {
namespace {

/// Long waves turn `factor` times slower, short ones as before, those between in proportion. Where
/// the two limits are equal nothing is between.
double scaled(double frequency, const RotaryShape& rotary) {
    const double waves = rotary.original_positions * frequency / (2 * std::numbers::pi);
    if (waves <= rotary.low_frequency_factor) return frequency / rotary.factor;
    if (waves >= rotary.high_frequency_factor) return frequency;
    const double share = (waves - rotary.low_frequency_factor) /
                         (rotary.high_frequency_factor - rotary.low_frequency_factor);
    return (1 - share) * frequency / rotary.factor + share * frequency;
}

}  // namespace

float rotary_frequency(const RotaryShape& rotary, std::int64_t head_dim, std::int64_t pair) {
    const double exponent = -2.0 * static_cast<double>(pair) / static_cast<double>(head_dim);
    const double frequency = std::pow(rotary.theta, exponent);
    return static_cast<float>(rotary.factor == 1 ? frequency : scaled(frequency, rotary));
}

}  // namespace sluice

#include "engine/kernels/rotary_frequencies.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

/// Long waves turn `factor` times slower, short ones as before, those between are interpolated. If
/// the two limits are equal, none is between.
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

std::array<float, kMostRotaryPairs> rotary_frequencies(const RotaryShape& rotary,
                                                       std::int64_t head_dim) {
    if (head_dim < 2 || head_dim % 2 != 0 || head_dim > 2 * kMostRotaryPairs) {
        throw InputError(fmt::format(
            "model: head_dim is {}, expected an even number up to {} for rotary position embedding "
            "on the GPU; choose another model",
            head_dim, 2 * kMostRotaryPairs));
    }
    std::array<float, kMostRotaryPairs> frequencies{};
    for (std::int64_t pair = 0; pair < head_dim / 2; ++pair)
        frequencies[static_cast<std::size_t>(pair)] = rotary_frequency(rotary, head_dim, pair);
    return frequencies;
}

}  // namespace sluice

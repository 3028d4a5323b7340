// Which number looks random but follows from another one, the same on every machine?
#pragma once

#include <cstdint>

namespace sluice {

/// 64 bits that depend on all bits of `value`; different values give different results. One output
/// of SplitMix64 with state `value` (Steele, Lea and Flood, OOPSLA 2014).
constexpr std::uint64_t mixed_bits(std::uint64_t value) {
    value += 0x9E3779B97F4A7C15U;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31);
}

/// The sum of four uniform numbers, scaled to variance 1: within -3.5 and 3.5. The same for the
/// same seed and counter.
inline float normal_like(std::uint64_t seed, std::uint64_t counter) {
    const std::uint64_t bits = mixed_bits(seed ^ mixed_bits(counter));
    std::int64_t sum = -2 * 0xFFFF;
    for (int shift = 0; shift < 64; shift += 16)
        sum += static_cast<std::int64_t>(bits >> shift & 0xFFFF);
    constexpr float kDeviation = 37837.2F;  // standard deviation of that sum: 2^16 sqrt(4 / 12)
    return static_cast<float>(sum) / kDeviation;
}

}  // namespace sluice

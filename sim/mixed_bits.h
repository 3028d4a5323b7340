// Which number looks random, yet follows from another one, on every machine alike?
#pragma once

#include <cstdint>

namespace sluice {

/// 64 bits that depend on all bits of `value`; different values give different bits. One output of
/// SplitMix64 whose state is `value` (Steele, Lea and Flood, OOPSLA 2014).
constexpr std::uint64_t mixed_bits(std::uint64_t value) {
    value += 0x9E3779B97F4A7C15U;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31);
}

}  // namespace sluice

// Which angles per position does the kernel get, and for which heads?
#pragma once

#include <array>
#include <cstdint>

#include "engine/kernels/kernels.h"

namespace sluice {

inline constexpr std::int64_t kMostRotaryPairs = 128;

/// rotary_frequency() of each pair < head_dim / 2, of the size that a kernel's arguments hold.
/// Throws InputError where head_dim is odd or above 256.
std::array<float, kMostRotaryPairs> rotary_frequencies(const RotaryShape& rotary,
                                                       std::int64_t head_dim);

}  // namespace sluice

// At which angle per position does each pair of a head turn?
#pragma once

#include <array>
#include <cstdint>

#include "engine/kernels/kernels.h"

namespace sluice {

inline constexpr std::int64_t kMostRotaryPairs = 128;

/// Radians per position of pair i < head_dim / 2, in fp32 as transformers keeps them (its
/// "inv_freq"): theta^(-2i / head_dim), and where rotary.factor is not 1 scaled as Llama 3.1 does
/// (arXiv 2407.21783; formula of transformers' rope type "llama3"). Throws InputError where
/// head_dim is odd or above 256.
std::array<float, kMostRotaryPairs> rotary_frequencies(const RotaryShape& rotary,
                                                       std::int64_t head_dim);

}  // namespace sluice

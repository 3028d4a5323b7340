// By which angle per position does a pair of a head's elements turn?
#pragma once

#include <array>
#include <cstdint>

#include "engine/kernels/kernels.h"

namespace sluice {

/// Radians per position of pair number `pair` < head_dim / 2, in fp32 as transformers keeps them
/// (its "inv_freq"): theta^(-2 pair / head_dim), and if rotary.factor is not 1, scaled as in Llama
/// 3.1 (arXiv 2407.21783; formula of transformers' rope type "llama3").
float rotary_frequency(const RotaryShape& rotary, std::int64_t head_dim, std::int64_t pair);

inline constexpr std::int64_t kMostRotaryPairs = 128;

/// The frequencies of all pairs, in an array of fixed size that is an argument of the GPU's kernel.
/// Throws InputError if head_dim is odd or above 256.
std::array<float, kMostRotaryPairs> rotary_frequencies(const RotaryShape& rotary,
                                                       std::int64_t head_dim);

}  // namespace sluice

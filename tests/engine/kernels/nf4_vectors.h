// Written by nf4_vectors.py: bitsandbytes' NF4 of the weights that nf4_test.cpp makes;
// 0 of 334 codes of scales are those of its CUDA kernels alone.
#pragma once

#include <cstdint>

namespace sluice::nf4_vectors {

inline constexpr std::int64_t kElements = 21344;
inline constexpr float kMean = 0x1.f39de40000000p-6F;
inline constexpr float kLargest[] = {0x1.02310e0000000p-5F, 0x1.fc621c0000000p-6F};
// FNV-1a of 64 bits
inline constexpr std::uint64_t kCodes = 0xb06a593a4bff6b9dU, kScales = 0xada4b2f15c9e0e59U,
                               kNumbers = 0xd677f22a96665bc4U, kDecoded = 0xb82b477ea41d66a4U;

}  // namespace sluice::nf4_vectors

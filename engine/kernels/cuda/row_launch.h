// How many threads share a row that stays in registers, and how many packets does each have?
#pragma once

#include <cstdint>

#include "engine/kernels/cuda/require.h"

namespace sluice {

inline constexpr int kRowThreads = 256;
inline constexpr int kMostPacketsPerThread = 8;

struct RowLaunch {
    int packets_per_thread = 0;  ///< of 8 bf16: 1, 2, 4 or 8; 0: the row is read twice
    unsigned threads = kRowThreads;
};

/// The smallest number of packets per thread with which 256 threads can share a row of `columns`,
/// and the number of threads for it, in whole warps. `aligned`: all rows may be read 16 bytes at a
/// time.
inline RowLaunch row_launch(std::int64_t columns, bool aligned) {
    const std::int64_t packets = columns / 8;
    if (!aligned || columns % 8 != 0 || packets > kRowThreads * kMostPacketsPerThread) return {};
    int each = 1;
    while (each * kRowThreads < packets) each *= 2;
    return {each, static_cast<unsigned>(divide_up(divide_up(packets, each), 32) * 32)};
}

}  // namespace sluice

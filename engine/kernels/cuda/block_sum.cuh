// How do the threads of a block add up? In an order that never changes.
#pragma once

namespace sluice {

inline constexpr int kWarpThreads = 32;
inline constexpr int kMostWarps = 32;  ///< of a block, on all GPUs
inline constexpr unsigned kAllLanes = 0xffffffffU;

/// Sum over each group of `lanes` neighbouring lanes, a power of two; all of a warp take part.
template <typename Value>
__device__ Value group_sum(Value value, int lanes) {
    for (int offset = lanes / 2; offset > 0; offset /= 2)
        value += __shfl_xor_sync(kAllLanes, value, offset);
    return value;
}

/// N sums over the threads of a block (whole warps) at once, the same in all threads.
template <typename Value, int N>
struct BlockSum {
    Value parts[kMostWarps][N];

    /// Costs one barrier; another must come between two calls on the same BlockSum, or those two
    /// alternate with calls on a second one.
    __device__ void operator()(Value (&sums)[N]) {
        const int warp = static_cast<int>(threadIdx.x) / kWarpThreads;
        const int warps = static_cast<int>(blockDim.x) / kWarpThreads;
#pragma unroll
        for (int n = 0; n < N; ++n) sums[n] = group_sum(sums[n], kWarpThreads);
        if (threadIdx.x % kWarpThreads == 0) {
#pragma unroll
            for (int n = 0; n < N; ++n) parts[warp][n] = sums[n];
        }
        __syncthreads();
#pragma unroll
        for (int n = 0; n < N; ++n) {
            sums[n] = parts[0][n];
            for (int i = 1; i < warps; ++i) sums[n] += parts[i][n];
        }
    }
};

}  // namespace sluice

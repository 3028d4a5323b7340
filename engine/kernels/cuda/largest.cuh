// Which number is the largest that a kernel writes? Blocks raise an Fp8Scale, which begins at 0.
#pragma once

#include "engine/kernels/cuda/block_sum.cuh"
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/fp8.h"

namespace sluice {

/// Before a kernel whose blocks call raise_largest(); nothing if `scale` is null.
inline void clear_largest(Fp8Scale* scale, cudaStream_t stream) {
    if (scale != nullptr) SLUICE_CHECK_CUDA(cudaMemsetAsync(scale, 0, sizeof(Fp8Scale), stream));
}

/// scale->largest = its maximum with the `pair` of each thread, two bf16 as Packet::raise() gives
/// them. All threads of a block (whole warps) call it, with their own `parts` a call.
__device__ inline void raise_largest(unsigned pair, Fp8Scale* scale,
                                     unsigned (&parts)[kMostWarps]) {
    unsigned bits = max(pair << 16, pair & 0xffff0000U);  // as fp32
    for (int offset = kWarpThreads / 2; offset > 0; offset /= 2)
        bits = max(bits, __shfl_xor_sync(kAllLanes, bits, offset));
    if (threadIdx.x % kWarpThreads == 0) parts[threadIdx.x / kWarpThreads] = bits;
    __syncthreads();
    if (threadIdx.x > 0) return;
    const int warps = static_cast<int>(blockDim.x) / kWarpThreads;
    for (int warp = 1; warp < warps; ++warp) bits = max(bits, parts[warp]);
    // Most blocks find a larger one there: 100,000 atomics on one address would take 0.1 ms.
    if (bits > *static_cast<volatile const unsigned*>(&scale->largest))
        atomicMax(&scale->largest, bits);
}

}  // namespace sluice

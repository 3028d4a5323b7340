// How do kernels write codes of FP8, as they are and transposed?
#pragma once

#include <cuda_fp8.h>

#include "engine/kernels/cuda/packet.cuh"
#include "engine/kernels/fp8.h"

namespace sluice {

template <DType kType>
__device__ unsigned two_codes(float low, float high) {
    return __nv_cvt_float2_to_fp8x2(make_float2(low, high), __NV_SATFINITE,
                                    kType == DType::e4m3 ? __NV_E4M3 : __NV_E5M2);
}

/// Codes of 8 numbers, in their order.
template <DType kType>
__device__ uint2 eight_codes(const Packet<8>& packet, float factor) {
    float values[8];
    packet.unpack(values);
#pragma unroll
    for (float& value : values) value *= factor;
    return make_uint2(
        two_codes<kType>(values[0], values[1]) | two_codes<kType>(values[2], values[3]) << 16,
        two_codes<kType>(values[4], values[5]) | two_codes<kType>(values[6], values[7]) << 16);
}

/// The first thread of a grid also writes scale->back.
template <DType kType>
__device__ float factor_of(Fp8Scale* scale) {
    const float factor = fp8_factor(scale->largest, kType);
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) scale->back = 1 / factor;
    return factor;
}

/// Byte `index` of four words.
__device__ inline unsigned byte_of_each(unsigned a, unsigned b, unsigned c, unsigned d,
                                        unsigned index) {
    const unsigned both = index | (index + 4) << 4;
    return __byte_perm(__byte_perm(a, b, both), __byte_perm(c, d, both), 0x5410);
}

}  // namespace sluice

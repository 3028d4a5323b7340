// How do kernels move bf16 through memory? Eight at a time where rows are aligned, else one.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

#include "engine/kernels/matrix.h"

namespace sluice {

using Bf16 = __nv_bfloat16;

/// W consecutive bf16, kept as they are in memory: half the registers of floats.
template <int W>
struct Packet;

template <>
struct Packet<8> {
    uint4 words{};
    __device__ void unpack(float (&values)[8]) const {
        const std::uint32_t word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            // A bf16 is the upper half of the fp32 with the same value.
            values[2 * i] = __uint_as_float(word[i] << 16);
            values[2 * i + 1] = __uint_as_float(word[i] & 0xffff0000U);
        }
    }
    static __device__ Packet pack(const float (&values)[8]) {
        std::uint32_t word[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const __nv_bfloat162 pair = __floats2bfloat162_rn(values[2 * i], values[2 * i + 1]);
            word[i] = std::uint32_t{__bfloat16_as_ushort(pair.x)} |
                      std::uint32_t{__bfloat16_as_ushort(pair.y)} << 16;
        }
        return {make_uint4(word[0], word[1], word[2], word[3])};
    }
    static __device__ Packet load(const Bf16* data) {
        return {*reinterpret_cast<const uint4*>(data)};
    }
    __device__ void store(Bf16* data) const { *reinterpret_cast<uint4*>(data) = words; }
    /// The larger of each half of `pair` and the bits of |every second number|, which integers
    /// order as their values, infinity above all and NaN above it.
    __device__ unsigned raise(unsigned pair) const {
        for (const unsigned word : {words.x, words.y, words.z, words.w})
            pair = __vmaxu2(pair, word & 0x7fff7fffU);
        return pair;
    }
};

template <>
struct Packet<1> {
    Bf16 value{};
    __device__ void unpack(float (&values)[1]) const { values[0] = __bfloat162float(value); }
    static __device__ Packet pack(const float (&values)[1]) {
        return {__float2bfloat16_rn(values[0])};
    }
    static __device__ Packet load(const Bf16* data) { return {*data}; }
    __device__ void store(Bf16* data) const { *data = value; }
    __device__ unsigned raise(unsigned pair) const {
        return __vmaxu2(pair, __bfloat16_as_ushort(value) & 0x7fffU);
    }
};

/// A matrix of bf16 as kernels see it.
struct Bf16Rows {
    Bf16* data;
    std::int64_t stride;
    __device__ Bf16* row(std::int64_t index) const { return data + index * stride; }
};

inline Bf16* bf16_data(const Vector& vector) { return static_cast<Bf16*>(vector.data); }
inline Bf16* bf16_data(const Matrix& matrix) { return static_cast<Bf16*>(matrix.data); }
inline Bf16Rows bf16_rows(const Matrix& matrix) { return {bf16_data(matrix), matrix.stride}; }

}  // namespace sluice

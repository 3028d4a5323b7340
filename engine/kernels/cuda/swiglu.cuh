// Which code do the kernels of SwiGLU share? Their arguments, gate and up in bf16 or in codes of 8
// bits, and the gradients of a few numbers.
#pragma once

#include "engine/kernels/cuda/block_sum.cuh"
#include "engine/kernels/cuda/packet.cuh"
#include "engine/kernels/eight_bits.h"
#include "engine/kernels/fp8.h"

namespace sluice {

struct SwigluArguments {
    Bf16Rows gate_up;  // (rows, 2 x width)
    Bf16Rows product;  // (rows, width); backward: its gradient, then the product
    int width;
    unsigned blocks_per_row;
    Fp8Scale *product_scale, *gradient_scale;
    EightBits codes;  // of gate_up: written forward, read backward; or absent
};

__device__ inline float sigmoid(float value) { return __fdividef(1.0F, 1.0F + __expf(-value)); }

__device__ inline void decode(uint2 codes, std::uint16_t largest, float (&values)[8]) {
    const float unit = eight_bit_unit(largest);
    // A byte, 128 larger than its code, is the lowest one of 2^23 + byte.
    constexpr unsigned kBits = 0x4B000000, kPlus128 = 0x80808080;
    constexpr float kBase = (1 << 23) + 128;
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
        const unsigned bytes = (i < 4 ? codes.x : codes.y) ^ kPlus128;
        const float code = __uint_as_float(__byte_perm(bytes, kBits, 0x7440 + i % 4)) - kBase;
        values[i] = __fmul_rn(code, unit);
    }
}

/// Where the codes of 8 numbers of a row are, and the largest number of their group.
struct CodePlace {
    std::int64_t gate, up, gate_group, up_group;
    __device__ CodePlace(const SwigluArguments& in, std::int64_t row, int column) {
        const std::int64_t groups = in.codes.groups();
        gate = row * 2 * in.width + column;
        up = gate + in.width;
        gate_group = row * 2 * groups + column / kEightBitGroup;
        up_group = gate_group + groups;
    }
};

// A group of 128 numbers belongs to 16 threads of a warp, 8 each.
inline constexpr int kGroupThreads = static_cast<int>(kEightBitGroup) / 8;

// Floats of at least 2^23 are integers, so that a sum with this rounds to the nearest one, whose
// lowest byte is the code. Conversions of bytes run at a quarter of this rate: with them a layer's
// forward took 0.9 ms longer for its codes (7B, 32,768 tokens, H200).
inline constexpr float kRounding = 1.5F * (1 << 23);

/// Codes of four numbers, the first in the lowest byte.
__device__ inline unsigned codes_of(const float* values, float factor) {
    unsigned code[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
        code[i] = __float_as_uint(__fadd_rn(__fmul_rn(values[i], factor), kRounding));
    return __byte_perm(__byte_perm(code[0], code[1], 0x0040), __byte_perm(code[2], code[3], 0x0040),
                       0x5410);
}

/// Codes of this thread's 8 numbers of gate or up. All threads of a warp call it; those beyond the
/// row's end (`inside` false) with zeros.
__device__ inline void write_codes(const Packet<8>& numbers, bool inside, std::int8_t* codes,
                                   std::uint16_t* largest) {
    const unsigned pair = numbers.raise(0);
    unsigned most = max(pair & 0xffffU, pair >> 16);
    for (int offset = kGroupThreads / 2; offset > 0; offset /= 2)
        most = max(most, __shfl_xor_sync(kAllLanes, most, offset));
    if (!inside) return;
    if (threadIdx.x % kGroupThreads == 0) *largest = static_cast<std::uint16_t>(most);
    const float factor = eight_bit_factor(static_cast<std::uint16_t>(most));
    float values[8];
    numbers.unpack(values);
    // A group with a number that is not finite has the factor 0 and codes of 0, as on the CPU.
    *reinterpret_cast<uint2*>(codes) =
        factor > 0 ? make_uint2(codes_of(values, factor), codes_of(values + 4, factor))
                   : make_uint2(0, 0);
}

/// With s = sigmoid(gate): dup = dproduct gate s, dgate = dproduct up s (1 + gate (1 - s)), product
/// = up gate s; in place of up, gate and the gradient of the product.
template <int W>
__device__ void differentiate(float (&g)[W], float (&u)[W], float (&d)[W]) {
#pragma unroll
    for (int i = 0; i < W; ++i) {
        const float s = sigmoid(g[i]);
        const float dgate = d[i] * u[i] * s * (1 + g[i] * (1 - s));
        const float dup = d[i] * g[i] * s;
        d[i] = u[i] * (g[i] * s);
        g[i] = dgate;
        u[i] = dup;
    }
}

/// Gate and up of a thread as they are in memory: bf16, or codes with the largest of their group.
template <int W, bool kCodes>
struct GateUp {
    Packet<W> gates, ups;
    __device__ void load(const SwigluArguments& in, std::int64_t row, int column) {
        const Bf16* const gate = in.gate_up.row(row) + column;
        gates = Packet<W>::load(gate);
        ups = Packet<W>::load(gate + in.width);
    }
    __device__ void unpack(float (&g)[W], float (&u)[W]) const {
        gates.unpack(g);
        ups.unpack(u);
    }
};
template <>
struct GateUp<8, true> {
    uint2 gates, ups;
    std::uint16_t largest_gate, largest_up;
    __device__ void load(const SwigluArguments& in, std::int64_t row, int column) {
        const CodePlace from(in, row, column);
        gates = *reinterpret_cast<const uint2*>(in.codes.codes + from.gate);
        ups = *reinterpret_cast<const uint2*>(in.codes.codes + from.up);
        largest_gate = in.codes.largest[from.gate_group];
        largest_up = in.codes.largest[from.up_group];
    }
    __device__ void unpack(float (&g)[8], float (&u)[8]) const {
        decode(gates, largest_gate, g);
        decode(ups, largest_up, u);
    }
};

}  // namespace sluice

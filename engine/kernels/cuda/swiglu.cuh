// Which code do the kernels of SwiGLU share? Their arguments, gate and up in bf16 or in codes of 8
// bits, and the gradients of a few numbers.
#pragma once

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

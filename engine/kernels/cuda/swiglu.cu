// silu(gate) up and its gradient: element by element, limited by memory.
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/cuda_kernels.h"
#include "engine/kernels/cuda/largest.cuh"
#include "engine/kernels/cuda/packet.cuh"
#include "engine/kernels/cuda/require.h"

namespace sluice {
namespace {

constexpr int kThreads = 256;
constexpr int kPackets = 2;  // of a thread: 2 x 256 x 8 elements of a row are a block's

struct Arguments {
    Bf16Rows gate_up;  // (rows, 2 x width)
    Bf16Rows product;  // (rows, width); backward: its gradient, then the product
    int width;
    unsigned blocks_per_row;
    Fp8Scale *product_scale, *gradient_scale;
};

__device__ float sigmoid(float value) { return __fdividef(1.0F, 1.0F + __expf(-value)); }

__device__ void raise(unsigned largest, Fp8Scale* scale, unsigned (&parts)[kMostWarps]) {
    if (scale != nullptr) raise_largest(largest, scale, parts);
}

/// The row and the columns of a block; packet v of a thread starts at column(v).
template <int W>
struct Place {
    std::int64_t row;
    int first_column;
    __device__ explicit Place(const Arguments& in) {
        row = blockIdx.x / in.blocks_per_row;
        const unsigned part = blockIdx.x % in.blocks_per_row;
        first_column = static_cast<int>((part * kPackets * kThreads + threadIdx.x) * W);
    }
    __device__ int column(int v) const { return first_column + v * kThreads * W; }
};

template <int W>
__global__ void __launch_bounds__(kThreads) swiglu_kernel(Arguments in) {
    const Place<W> place(in);
    const Bf16* gate = in.gate_up.row(place.row);
    const Bf16* up = gate + in.width;
    Packet<W> gates[kPackets], ups[kPackets];
#pragma unroll
    for (int v = 0; v < kPackets; ++v) {
        if (place.column(v) >= in.width) continue;
        gates[v] = Packet<W>::load(gate + place.column(v));
        ups[v] = Packet<W>::load(up + place.column(v));
    }
    __shared__ unsigned parts[kMostWarps];
    unsigned largest = 0;
#pragma unroll
    for (int v = 0; v < kPackets; ++v) {
        if (place.column(v) >= in.width) continue;
        float g[W], u[W];
        gates[v].unpack(g);
        ups[v].unpack(u);
#pragma unroll
        for (int i = 0; i < W; ++i) u[i] *= g[i] * sigmoid(g[i]);
        const auto product = Packet<W>::pack(u);
        product.store(in.product.row(place.row) + place.column(v));
        largest = product.raise(largest);
    }
    raise(largest, in.product_scale, parts);
}

/// With s = sigmoid(gate): dup = dproduct gate s, dgate = dproduct up s (1 + gate (1 - s)), product
/// = up gate s.
template <int W>
__global__ void __launch_bounds__(kThreads) swiglu_backward_kernel(Arguments in) {
    const Place<W> place(in);
    Bf16* gate = in.gate_up.row(place.row);
    Bf16* up = gate + in.width;
    Packet<W> gates[kPackets], ups[kPackets], gradients[kPackets];
#pragma unroll
    for (int v = 0; v < kPackets; ++v) {
        if (place.column(v) >= in.width) continue;
        gates[v] = Packet<W>::load(gate + place.column(v));
        ups[v] = Packet<W>::load(up + place.column(v));
        gradients[v] = Packet<W>::load(in.product.row(place.row) + place.column(v));
    }
    __shared__ unsigned parts[2][kMostWarps];
    unsigned largest = 0, largest_product = 0;
#pragma unroll
    for (int v = 0; v < kPackets; ++v) {
        if (place.column(v) >= in.width) continue;
        float g[W], u[W], d[W];
        gates[v].unpack(g);
        ups[v].unpack(u);
        gradients[v].unpack(d);
#pragma unroll
        for (int i = 0; i < W; ++i) {
            const float s = sigmoid(g[i]);
            const float dgate = d[i] * u[i] * s * (1 + g[i] * (1 - s));
            const float dup = d[i] * g[i] * s;
            d[i] = u[i] * (g[i] * s);
            g[i] = dgate;
            u[i] = dup;
        }
        const auto dgate = Packet<W>::pack(g), dup = Packet<W>::pack(u),
                   product = Packet<W>::pack(d);
        dgate.store(gate + place.column(v));
        dup.store(up + place.column(v));
        product.store(in.product.row(place.row) + place.column(v));
        largest = dup.raise(dgate.raise(largest));
        largest_product = product.raise(largest_product);
    }
    raise(largest, in.gradient_scale, parts[0]);
    raise(largest_product, in.product_scale, parts[1]);
}

/// Checks both matrices, of the forward or of the backward pass, and launches the kernel for 8
/// elements at a time or that for one.
void launch(const char* operation, cudaStream_t stream, Matrix gate_up, Matrix product,
            SwigluScales scales, void (*by_eight)(Arguments), void (*by_one)(Arguments)) {
    require_bf16(operation, "product", product, product.rows, product.columns);
    require_bf16(operation, "gate_up", gate_up, product.rows, 2 * product.columns);
    const bool aligned =
        product.columns % 8 == 0 && rows_are_aligned(gate_up) && rows_are_aligned(product);
    const int block_elements = kThreads * kPackets * (aligned ? 8 : 1);
    const unsigned blocks_per_row = grid_of(operation, divide_up(product.columns, block_elements));
    const Arguments in{bf16_rows(gate_up), bf16_rows(product), static_cast<int>(product.columns),
                       blocks_per_row,     scales.product,     scales.gradient};
    clear_largest(scales.product, stream);
    clear_largest(scales.gradient, stream);
    const unsigned blocks = grid_of(operation, product.rows * blocks_per_row);
    const auto kernel = aligned ? by_eight : by_one;
    kernel<<<blocks, kThreads, 0, stream>>>(in);
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

}  // namespace

void CudaKernels::swiglu(Matrix product, Matrix gate_up, Fp8Scale* scale) {
    launch("swiglu", stream_, gate_up, product, {.product = scale}, swiglu_kernel<8>,
           swiglu_kernel<1>);
}

void CudaKernels::swiglu_backward(Matrix gate_up, Matrix dproduct, SwigluScales scales) {
    launch("swiglu_backward", stream_, gate_up, dproduct, scales, swiglu_backward_kernel<8>,
           swiglu_backward_kernel<1>);
}

}  // namespace sluice

// silu(gate) up and its gradient: element by element, limited by memory.
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/cuda_kernels.h"
#include "engine/kernels/cuda/largest.cuh"
#include "engine/kernels/cuda/packet.cuh"
#include "engine/kernels/cuda/require.h"
#include "engine/kernels/cuda/swiglu.cuh"

namespace sluice {
namespace {

constexpr int kThreads = 256;
constexpr int kPackets = 2;  // of a thread: 2 x 256 x 8 elements of a row are a block's

__device__ void raise(unsigned largest, Fp8Scale* scale, unsigned (&parts)[kMostWarps]) {
    if (scale != nullptr) raise_largest(largest, scale, parts);
}

/// The row and the columns of a block; packet v of a thread starts at column(v).
template <int W>
struct Place {
    std::int64_t row;
    int first_column;
    __device__ explicit Place(const SwigluArguments& in) {
        row = blockIdx.x / in.blocks_per_row;
        const unsigned part = blockIdx.x % in.blocks_per_row;
        first_column = static_cast<int>((part * kPackets * kThreads + threadIdx.x) * W);
    }
    __device__ int column(int v) const { return first_column + v * kThreads * W; }
};

template <int W>
__global__ void __launch_bounds__(kThreads) swiglu_kernel(SwigluArguments in) {
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
    if constexpr (W == 8) {
        if (in.codes.present()) {
#pragma unroll
            for (int v = 0; v < kPackets; ++v) {
                const bool inside = place.column(v) < in.width;
                const CodePlace to(in, place.row, place.column(v));
                write_codes(gates[v], inside, in.codes.codes + to.gate,
                            in.codes.largest + to.gate_group);
                write_codes(ups[v], inside, in.codes.codes + to.up, in.codes.largest + to.up_group);
            }
        }
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

template <int W, bool kCodes>
__global__ void __launch_bounds__(kThreads) swiglu_backward_kernel(SwigluArguments in) {
    const Place<W> place(in);
    GateUp<W, kCodes> gate_ups[kPackets];
    Packet<W> gradients[kPackets];
#pragma unroll
    for (int v = 0; v < kPackets; ++v) {
        if (place.column(v) >= in.width) continue;
        gate_ups[v].load(in, place.row, place.column(v));
        gradients[v] = Packet<W>::load(in.product.row(place.row) + place.column(v));
    }
    __shared__ unsigned parts[kMostWarps];
    unsigned largest = 0;
#pragma unroll
    for (int v = 0; v < kPackets; ++v) {
        if (place.column(v) >= in.width) continue;
        float g[W], u[W], d[W];
        gate_ups[v].unpack(g, u);
        gradients[v].unpack(d);
        differentiate(g, u, d);
        Bf16* const gate = in.gate_up.row(place.row) + place.column(v);
        const auto of_gate = Packet<W>::pack(g), of_up = Packet<W>::pack(u);
        of_gate.store(gate);
        of_up.store(gate + in.width);
        largest = of_up.raise(of_gate.raise(largest));
        Packet<W>::pack(d).store(in.product.row(place.row) + place.column(v));
    }
    raise(largest, in.gradient_scale, parts);
}

/// The arguments of a pass.
struct Launch {
    const char* operation;
    Matrix gate_up, product;
    Fp8Scale* scale;  ///< of the product, or of the gradient of gate and up
    EightBits codes;
};

/// Checks the matrices, of the forward or of the backward pass, and launches the kernel for 8
/// elements at a time or that for one.
void launch(cudaStream_t stream, const Launch& of, void (*by_eight)(SwigluArguments),
            void (*by_one)(SwigluArguments)) {
    const Matrix &gate_up = of.gate_up, &product = of.product;
    require_bf16(of.operation, "product", product, product.rows, product.columns);
    require_bf16(of.operation, "gate_up", gate_up, product.rows, 2 * product.columns);
    const bool aligned =
        product.columns % 8 == 0 && rows_are_aligned(gate_up) && rows_are_aligned(product);
    if (of.codes.present()) {
        require_eight_bits(product.columns);
        require(aligned && of.codes.width == product.columns, of.operation,
                "aligned rows and codes of their width");
    }
    const int block_elements = kThreads * kPackets * (aligned ? 8 : 1);
    const unsigned blocks_per_row =
        grid_of(of.operation, divide_up(product.columns, block_elements));
    const SwigluArguments in{bf16_rows(gate_up),
                             bf16_rows(product),
                             static_cast<int>(product.columns),
                             blocks_per_row,
                             of.scale,
                             of.scale,
                             of.codes};
    clear_largest(of.scale, stream);
    const unsigned blocks = grid_of(of.operation, product.rows * blocks_per_row);
    const auto kernel = aligned ? by_eight : by_one;
    kernel<<<blocks, kThreads, 0, stream>>>(in);
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

}  // namespace

void CudaKernels::swiglu(Matrix product, Matrix gate_up, Fp8Scale* scale, EightBits codes) {
    launch(stream_, {"swiglu", gate_up, product, scale, codes}, swiglu_kernel<8>, swiglu_kernel<1>);
}

void CudaKernels::swiglu_backward(Matrix gate_up, Matrix dproduct, EightBits codes,
                                  Fp8Scale* scale) {
    launch(stream_, {"swiglu_backward", gate_up, dproduct, scale, codes},
           codes.present() ? swiglu_backward_kernel<8, true> : swiglu_backward_kernel<8, false>,
           swiglu_backward_kernel<1, false>);
}

}  // namespace sluice

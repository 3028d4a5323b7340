// RMSNorm of whole rows: a block a row, which stays in registers between its sum of squares and its
// result.
#include "engine/kernels/cuda/block_sum.cuh"
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/cuda_kernels.h"
#include "engine/kernels/cuda/largest.cuh"
#include "engine/kernels/cuda/packet.cuh"
#include "engine/kernels/cuda/require.h"
#include "engine/kernels/cuda/row_launch.h"

namespace sluice {
namespace {

struct Arguments {
    Bf16Rows y, x;
    const Bf16* weight;
    int columns;
    float epsilon;
    Fp8Scale* scale;
};

/// 1 / rms of a row, given each thread's sum of squares.
__device__ float inverse_rms_of(float squares, const Arguments& in) {
    __shared__ BlockSum<float, 1> block_sum;
    float sum[1] = {squares};
    block_sum(sum);
    return rsqrtf(sum[0] / static_cast<float>(in.columns) + in.epsilon);
}

__device__ void raise(unsigned largest, const Arguments& in) {
    __shared__ unsigned parts[kMostWarps];
    if (in.scale != nullptr) raise_largest(largest, in.scale, parts);
}

/// V packets of 8 a thread; columns % 8 == 0 and columns <= 8 x V x blockDim.x.
template <int V>
__global__ void __launch_bounds__(kRowThreads) rms_norm_kernel(Arguments in) {
    const Bf16* x = in.x.row(blockIdx.x);
    Bf16* y = in.y.row(blockIdx.x);
    Packet<8> values[V], weights[V];
    float squares = 0;
#pragma unroll
    for (int v = 0; v < V; ++v) {
        const int column = 8 * static_cast<int>(threadIdx.x + v * blockDim.x);
        if (column >= in.columns) continue;
        values[v] = Packet<8>::load(x + column);
        weights[v] = Packet<8>::load(in.weight + column);
    }
#pragma unroll
    for (int v = 0; v < V; ++v) {
        float value[8];
        values[v].unpack(value);  // 0 beyond the row's end
#pragma unroll
        for (int i = 0; i < 8; ++i) squares += value[i] * value[i];
    }
    const float inverse_rms = inverse_rms_of(squares, in);
    unsigned largest = 0;
#pragma unroll
    for (int v = 0; v < V; ++v) {
        const int column = 8 * static_cast<int>(threadIdx.x + v * blockDim.x);
        if (column >= in.columns) continue;
        float value[8], weight[8];
        values[v].unpack(value);
        weights[v].unpack(weight);
#pragma unroll
        for (int i = 0; i < 8; ++i) value[i] *= inverse_rms * weight[i];
        const auto result = Packet<8>::pack(value);
        result.store(y + column);
        largest = result.raise(largest);
    }
    raise(largest, in);
}

/// Rows of any size and alignment, read twice.
__global__ void __launch_bounds__(kRowThreads) rms_norm_any_kernel(Arguments in) {
    const Bf16* x = in.x.row(blockIdx.x);
    Bf16* y = in.y.row(blockIdx.x);
    float squares = 0;
    for (int column = threadIdx.x; column < in.columns; column += blockDim.x) {
        const float value = __bfloat162float(x[column]);
        squares += value * value;
    }
    const float inverse_rms = inverse_rms_of(squares, in);
    unsigned largest = 0;
    for (int column = threadIdx.x; column < in.columns; column += blockDim.x) {
        const float value = __bfloat162float(x[column]) * inverse_rms;
        const Packet<1> result{__float2bfloat16_rn(value * __bfloat162float(in.weight[column]))};
        result.store(y + column);
        largest = result.raise(largest);
    }
    raise(largest, in);
}

}  // namespace

void CudaKernels::rms_norm(Matrix y, Matrix x, Vector weight, float epsilon, Fp8Scale* scale) {
    const char* const operation = "rms_norm";
    require_bf16(operation, "x", x, x.rows, x.columns);
    require_bf16(operation, "y", y, x.rows, x.columns);
    require_bf16(operation, "weight", weight, x.columns);
    const Arguments in{bf16_rows(y), bf16_rows(x), bf16_data(weight), static_cast<int>(x.columns),
                       epsilon,      scale};
    clear_largest(scale, stream_);
    const unsigned blocks = grid_of(operation, x.rows);
    const bool aligned = rows_are_aligned(x) && rows_are_aligned(y) && is_aligned(weight.data);
    const RowLaunch launch = row_launch(x.columns, aligned);
    const int packets = launch.packets_per_thread;
    const auto kernel = packets == 1   ? rms_norm_kernel<1>
                        : packets == 2 ? rms_norm_kernel<2>
                        : packets == 4 ? rms_norm_kernel<4>
                        : packets == 8 ? rms_norm_kernel<8>
                                       : rms_norm_any_kernel;
    kernel<<<blocks, launch.threads, 0, stream_>>>(in);
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

}  // namespace sluice

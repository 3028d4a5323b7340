// Gradients of RMSNorm. With r = 1 / rms(x) and g = dy weight:
//   dx = r (g - x r^2 mean(g x)),   dweight = sum over rows of dy x r.
// Blocks stay and take one row after another, so that a thread adds up dweight of its columns in
// registers; their sums go through the scratch.
#include <algorithm>

#include "engine/kernels/cuda/block_sum.cuh"
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/cuda_kernels.h"
#include "engine/kernels/cuda/packet.cuh"
#include "engine/kernels/cuda/require.h"
#include "engine/kernels/cuda/row_launch.h"
#include "engine/kernels/cuda/sums.h"

namespace sluice {
namespace {

struct Arguments {
    Bf16Rows dx, dy, x;  // dx may be dy or x: a thread reads its part of a row, then writes it
    const Bf16* weight;
    float* dweight;  // (gridDim.x, columns)
    std::int64_t rows;
    int columns;
    float epsilon;
    bool add_to_dx;
};

struct Factors {
    float inverse_rms, of_x;  // dx = inverse_rms g - of_x x
};

/// `sums`: x^2 and g x over the row.
__device__ Factors factors_of(const float (&sums)[2], const Arguments& in) {
    const float count = static_cast<float>(in.columns);
    const float inverse_rms = rsqrtf(sums[0] / count + in.epsilon);
    return {inverse_rms, inverse_rms * inverse_rms * inverse_rms * (sums[1] / count)};
}

/// Blocks that fit a multiprocessor, so that registers hold what a thread with V packets keeps.
constexpr int blocks_at_once(int packets) {
    return packets == 1 ? 4 : packets == 2 ? 3 : packets == 4 ? 2 : 1;
}

/// A thread's part of a row.
template <int V>
struct Part {
    Packet<8> x[V], dy[V], dx[V];

    __device__ Part(const Arguments& in, std::int64_t row) {
#pragma unroll
        for (int v = 0; v < V; ++v) {
            const int column = column_of(v);
            if (column >= in.columns) continue;  // stays 0
            x[v] = Packet<8>::load(in.x.row(row) + column);
            dy[v] = Packet<8>::load(in.dy.row(row) + column);
            if (in.add_to_dx) dx[v] = Packet<8>::load(in.dx.row(row) + column);
        }
    }
    static __device__ int column_of(int v) {
        return 8 * static_cast<int>(threadIdx.x + static_cast<unsigned>(v) * blockDim.x);
    }
    __device__ void add_sums(const Packet<8> (&weights)[V], float (&sums)[2]) const {
#pragma unroll
        for (int v = 0; v < V; ++v) {
            float value[8], gradient[8], weight[8];
            x[v].unpack(value);
            dy[v].unpack(gradient);
            weights[v].unpack(weight);
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                sums[0] += value[i] * value[i];
                sums[1] += gradient[i] * weight[i] * value[i];
            }
        }
    }
    /// Writes dx and adds to dweight, for packet v.
    __device__ void finish(const Arguments& in, std::int64_t row, int v, Packet<8> weights,
                           Factors factors, float (&dweight)[8]) const {
        float value[8], gradient[8], weight[8], result[8];
        x[v].unpack(value);
        dy[v].unpack(gradient);
        weights.unpack(weight);
        dx[v].unpack(result);
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const float scaled = gradient[i] * factors.inverse_rms;
            dweight[i] += scaled * value[i];
            result[i] += scaled * weight[i] - factors.of_x * value[i];
        }
        if (column_of(v) < in.columns) Packet<8>::pack(result).store(in.dx.row(row) + column_of(v));
    }
};

/// V packets of 8 a thread; columns % 8 == 0 and columns <= 8 x V x blockDim.x.
template <int V>
__global__ void __launch_bounds__(kRowThreads, blocks_at_once(V))
    rms_norm_backward_kernel(Arguments in) {
    __shared__ BlockSum<float, 2> block_sum[2];  // in turns: one barrier a row
    Packet<8> weights[V];
    float dweight[V][8] = {};
#pragma unroll
    for (int v = 0; v < V; ++v) {
        const int column = Part<V>::column_of(v);
        if (column < in.columns) weights[v] = Packet<8>::load(in.weight + column);
    }
    int turn = 0;
    for (std::int64_t row = blockIdx.x; row < in.rows; row += gridDim.x, turn ^= 1) {
        const Part<V> part(in, row);
        float sums[2] = {0, 0};
        part.add_sums(weights, sums);
        block_sum[turn](sums);
        const Factors factors = factors_of(sums, in);
#pragma unroll
        for (int v = 0; v < V; ++v) part.finish(in, row, v, weights[v], factors, dweight[v]);
    }
#pragma unroll
    for (int v = 0; v < V; ++v) {
        const int column = Part<V>::column_of(v);
        if (column >= in.columns) continue;
        auto* out =
            reinterpret_cast<float4*>(in.dweight + std::int64_t{blockIdx.x} * in.columns + column);
        out[0] = make_float4(dweight[v][0], dweight[v][1], dweight[v][2], dweight[v][3]);
        out[1] = make_float4(dweight[v][4], dweight[v][5], dweight[v][6], dweight[v][7]);
    }
}

/// Rows of any size and alignment, read twice; dweight adds up in the scratch.
__global__ void __launch_bounds__(kRowThreads) rms_norm_backward_any_kernel(Arguments in) {
    __shared__ BlockSum<float, 2> block_sum[2];
    float* dweight = in.dweight + std::int64_t{blockIdx.x} * in.columns;
    for (int column = threadIdx.x; column < in.columns; column += blockDim.x) dweight[column] = 0;
    int turn = 0;
    for (std::int64_t row = blockIdx.x; row < in.rows; row += gridDim.x, turn ^= 1) {
        const Bf16 *x = in.x.row(row), *dy = in.dy.row(row);
        Bf16* dx = in.dx.row(row);
        float sums[2] = {0, 0};
        for (int column = threadIdx.x; column < in.columns; column += blockDim.x) {
            const float value = __bfloat162float(x[column]);
            sums[0] += value * value;
            sums[1] += __bfloat162float(dy[column]) * __bfloat162float(in.weight[column]) * value;
        }
        block_sum[turn](sums);
        const Factors factors = factors_of(sums, in);
        for (int column = threadIdx.x; column < in.columns; column += blockDim.x) {
            const float value = __bfloat162float(x[column]);
            const float scaled = __bfloat162float(dy[column]) * factors.inverse_rms;
            const float old = in.add_to_dx ? __bfloat162float(dx[column]) : 0.0F;
            dweight[column] += scaled * value;
            dx[column] = __float2bfloat16_rn(old + scaled * __bfloat162float(in.weight[column]) -
                                             factors.of_x * value);
        }
    }
}

}  // namespace

void CudaKernels::rms_norm_backward(Matrix dx, bool add_to_dx, Matrix dy, Matrix x, Vector weight,
                                    float epsilon, Vector dweight, bool accumulate) {
    const char* const operation = "rms_norm_backward";
    require_bf16(operation, "x", x, x.rows, x.columns);
    require_bf16(operation, "dx", dx, x.rows, x.columns);
    require_bf16(operation, "dy", dy, x.rows, x.columns);
    require_bf16(operation, "weight", weight, x.columns);
    if (dweight.present()) require_gradient(operation, "dweight", dweight, x.columns);
    const bool aligned = rows_are_aligned(x) && rows_are_aligned(dx) && rows_are_aligned(dy) &&
                         is_aligned(weight.data);
    const RowLaunch launch = row_launch(x.columns, aligned);
    const std::int64_t wanted = std::min<std::int64_t>(
        x.rows, multiprocessors_ * blocks_at_once(launch.packets_per_thread));
    const std::int64_t parts = partial_rows(operation, scratch_, wanted, x.columns);
    auto* const partial = static_cast<float*>(scratch_.data);
    const Arguments in{bf16_rows(dx),
                       bf16_rows(dy),
                       bf16_rows(x),
                       bf16_data(weight),
                       partial,
                       x.rows,
                       static_cast<int>(x.columns),
                       epsilon,
                       add_to_dx};
    const unsigned blocks = grid_of(operation, parts);
    const int packets = launch.packets_per_thread;
    const auto kernel = packets == 1   ? rms_norm_backward_kernel<1>
                        : packets == 2 ? rms_norm_backward_kernel<2>
                        : packets == 4 ? rms_norm_backward_kernel<4>
                        : packets == 8 ? rms_norm_backward_kernel<8>
                                       : rms_norm_backward_any_kernel;
    kernel<<<blocks, launch.threads, 0, stream_>>>(in);
    SLUICE_CHECK_CUDA(cudaGetLastError());
    if (dweight.present()) sum_partials(stream_, partial, parts, dweight, accumulate);
}

}  // namespace sluice

#include <algorithm>

#include "engine/kernels/cuda/block_sum.cuh"
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/packet.cuh"
#include "engine/kernels/cuda/require.h"
#include "engine/kernels/cuda/sums.h"

namespace sluice {
namespace {

constexpr int kThreads = 1024;

template <typename Value>
__global__ void __launch_bounds__(kThreads)
    add_sum_kernel(const Value* values, std::int64_t count, double factor, double* sum) {
    __shared__ BlockSum<double, 1> block_sum;
    double total[1] = {0};
    for (std::int64_t i = threadIdx.x; i < count; i += kThreads) total[0] += values[i];
    block_sum(total);
    if (threadIdx.x == 0) *sum += factor * total[0];
}

}  // namespace

void add_sum(cudaStream_t stream, const float* values, std::int64_t count, double factor,
             double* sum) {
    add_sum_kernel<<<1, kThreads, 0, stream>>>(values, count, factor, sum);
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

void add_sum(cudaStream_t stream, const double* values, std::int64_t count, double factor,
             double* sum) {
    add_sum_kernel<<<1, kThreads, 0, stream>>>(values, count, factor, sum);
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

namespace {

constexpr int kColumns = 32;  // a block's columns: a warp reads 128 bytes of a row
constexpr int kLanes = 16;    // rows read at a time

__device__ void write(Bf16* gradient, float sum, bool) { *gradient = __float2bfloat16_rn(sum); }
__device__ void write(float* gradient, float sum, bool accumulate) {
    *gradient = accumulate ? *gradient + sum : sum;
}

template <typename Value>
__global__ void __launch_bounds__(kColumns* kLanes)
    sum_partials_kernel(const float* partial, std::int64_t parts, Value* gradient,
                        std::int64_t columns, bool accumulate) {
    __shared__ float sums[kLanes][kColumns];
    const std::int64_t column = std::int64_t{blockIdx.x} * kColumns + threadIdx.x;
    float sum = 0;
    if (column < columns) {
#pragma unroll 4
        for (std::int64_t part = threadIdx.y; part < parts; part += kLanes)
            sum += partial[part * columns + column];
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0 || column >= columns) return;
    for (int lane = 1; lane < kLanes; ++lane) sum += sums[lane][threadIdx.x];
    write(gradient + column, sum, accumulate);
}

}  // namespace

void sum_partials(cudaStream_t stream, const float* partial, std::int64_t parts, Vector gradient,
                  bool accumulate) {
    const unsigned blocks = grid_of("sum_partials", divide_up(gradient.size, kColumns));
    const dim3 threads(kColumns, kLanes);
    if (gradient.type == DType::bf16) {
        sum_partials_kernel<<<blocks, threads, 0, stream>>>(partial, parts, bf16_data(gradient),
                                                            gradient.size, accumulate);
    } else {
        sum_partials_kernel<<<blocks, threads, 0, stream>>>(
            partial, parts, static_cast<float*>(gradient.data), gradient.size, accumulate);
    }
    SLUICE_CHECK_CUDA(cudaGetLastError());
}

std::int64_t partial_rows(const char* operation, const Scratch& scratch, std::int64_t wanted,
                          std::int64_t columns) {
    const std::int64_t fit = scratch.bytes / (columns * bytes_of(DType::fp32));
    require(fit > 0, operation, "scratch for one row of partial sums at least");
    return std::clamp<std::int64_t>(wanted, 1, fit);
}

}  // namespace sluice

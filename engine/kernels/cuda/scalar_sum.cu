#include "engine/kernels/cuda/block_sum.cuh"
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/scalar_sum.h"

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

}  // namespace sluice

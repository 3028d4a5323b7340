// How are sums over many blocks completed? Blocks write partial sums to the scratch; a second
// kernel adds them in a fixed order.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "engine/kernels/cuda/cuda_kernels.h"

namespace sluice {

/// *sum += factor x the sum of `count` values; all on the device.
void add_sum(cudaStream_t stream, const float* values, std::int64_t count, double factor,
             double* sum);
void add_sum(cudaStream_t stream, const double* values, std::int64_t count, double factor,
             double* sum);

/// gradient[column] = sum over `parts` rows of partial (parts, gradient.size) fp32, contiguous.
/// Written as bf16 or fp32; added if gradient is fp32 and `accumulate`.
void sum_partials(cudaStream_t stream, const float* partial, std::int64_t parts, Vector gradient,
                  bool accumulate);

/// The scratch as partial sums: at most `wanted` rows of `columns` fp32, and at least 1. Throws
/// InternalError if not even 1 fits.
std::int64_t partial_rows(const char* operation, const Scratch& scratch, std::int64_t wanted,
                          std::int64_t columns);

}  // namespace sluice

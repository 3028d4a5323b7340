// How does one number come out of many blocks? Their parts are added in a fixed order, in fp64.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sluice {

/// *sum += factor x the sum of `count` values; all on the device.
void add_sum(cudaStream_t stream, const float* values, std::int64_t count, double factor,
             double* sum);
void add_sum(cudaStream_t stream, const double* values, std::int64_t count, double factor,
             double* sum);

}  // namespace sluice

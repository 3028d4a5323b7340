// Which parts of a matrix of gigabytes does a test look at? Some rows, or some columns of all rows.
#pragma once

#include <bit>

#include "tests/engine/cuda_kernels/device_matrix.h"

namespace sluice {

/// Says so where it does not have that much.
bool has_device_memory(std::int64_t bytes);

/// (rows, count) of a bf16 matrix in fp32, row by row.
std::vector<float> read_columns(Matrix matrix, std::int64_t first, std::int64_t count);
std::vector<float> read_floats(const float* on_device, std::int64_t count);

/// A copy of these rows, for kernels to compute with or to read.
class CopyOfRows {
  public:
    CopyOfRows(Matrix of, std::int64_t first, std::int64_t count);
    Matrix view() const { return copy_.view(); }
    std::vector<double> read() const { return copy_.read(); }

  private:
    DeviceMatrix copy_;
};

}  // namespace sluice

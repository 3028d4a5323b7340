// Which values do tests of kernels give to the GPU and read back? Matrices of random bf16
// between guards that nobody may touch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/matrix.h"

namespace sluice {

struct CudaFree {
    void operator()(void* data) const { cudaFree(data); }
};
using DeviceMemory = std::unique_ptr<void, CudaFree>;
DeviceMemory allocate_on_device(std::int64_t bytes);

/// Kernels run on a stream that does not wait for copies and memsets, which may return early.
void wait_for_device();

/// Range of uniform random values.
struct Range {
    double low = -1, high = 1;
};

/// `padding` elements between rows; `offset` elements behind an address divisible by 256.
struct Layout {
    std::int64_t padding = 0, offset = 0;
};

/// A matrix on the device. Poisoned: every byte is 0xff, a NaN in bf16 and in fp32.
class DeviceMatrix {
  public:
    DeviceMatrix(std::int64_t rows, std::int64_t columns, DType type = DType::bf16,
                 Layout layout = {});

    Matrix view() const { return matrix_; }
    Vector vector() const { return {matrix_.data, matrix_.type, matrix_.columns}; }  ///< row 0

    /// Uniform values, rounded to the type; the same for the same seed. Large matrices repeat
    /// the same rows, about 2^22 values.
    void fill_random(unsigned seed, Range range = {});
    void poison();
    /// (rows, columns) as fp64, once the device has finished.
    std::vector<double> read() const;
    /// Whether padding and guards are still poison.
    bool surroundings_intact() const;

  private:
    std::vector<unsigned char> read_bytes() const;

    Matrix matrix_;
    std::int64_t begin_ = 0;  ///< of the matrix, in bytes from that of the allocation
    std::int64_t bytes_ = 0;  ///< of the allocation
    DeviceMemory allocation_;
};

/// Values of a plain type on the device.
template <typename Value>
class DeviceArray {
  public:
    explicit DeviceArray(const std::vector<Value>& values)
        : size_(values.size()), memory_(allocate_on_device(bytes())) {
        SLUICE_CHECK_CUDA(
            cudaMemcpy(data(), values.data(), size_ * sizeof(Value), cudaMemcpyHostToDevice));
        wait_for_device();
    }
    std::vector<Value> read() const {
        std::vector<Value> values(size_);
        wait_for_device();
        SLUICE_CHECK_CUDA(
            cudaMemcpy(values.data(), data(), size_ * sizeof(Value), cudaMemcpyDeviceToHost));
        return values;
    }
    Value* data() const { return static_cast<Value*>(memory_.get()); }

  private:
    std::int64_t bytes() const { return static_cast<std::int64_t>(size_ * sizeof(Value)); }

    std::size_t size_;
    DeviceMemory memory_;
};

}  // namespace sluice

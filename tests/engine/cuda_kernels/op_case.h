// How is an operation tested at one shape? A case is a struct with
//   struct Shape                      what varies, with its text
//   static constexpr const char* kName
//   explicit Case(Shape)              makes the matrices, inputs random, outputs poisoned
//   void run(CudaKernels&)            the call alone: what the benchmark times
//   double check(CudaKernels&)        runs it once and returns the share of the tolerance used
//   double bytes() / flops()          what the call must move or compute at least
// check_cases() runs a list of shapes as a test, bench/cuda_kernels another as a benchmark.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/kernels/cuda/cuda_kernels.h"
#include "tests/engine/cuda_kernels/device_matrix.h"

namespace sluice {

/// |actual - expected| <= absolute + relative x |expected|.
struct Tolerance {
    double absolute = 0;
    double relative = 0;
};
/// Half a unit in the last place of bf16 is at most 2^-8 of a value; 2% more, since values near the
/// middle may fall to either side.
inline constexpr double kBf16Error = 1.02 / 256;

/// The largest share of the tolerance that any element uses; infinite where one is NaN, as all are
/// that were never written, or where sizes differ.
double share_of(Tolerance tolerance, const std::vector<double>& actual,
                const std::vector<double>& expected);

/// Infinite where padding or guards of a matrix were written, else 0.
double share_of_surroundings(const std::vector<const DeviceMatrix*>& matrices);

/// Tolerance of a gradient summed in fp32 over `rows` terms of about 1, in its type.
inline Tolerance gradient_tolerance(DType type, std::int64_t rows) {
    return {1e-6 * static_cast<double>(rows), type == DType::bf16 ? kBf16Error : 3e-6};
}

inline const char* text_of(DType type) { return type == DType::bf16 ? "bf16" : "fp32"; }

/// A stream, scratch and kernels; one for all tests, to the end of the program.
class Gpu {
  public:
    Gpu();
    CudaKernels& kernels() { return *kernels_; }
    cudaStream_t stream() const { return stream_; }

  private:
    cudaStream_t stream_ = nullptr;
    DeviceMemory scratch_;
    std::unique_ptr<CudaKernels> kernels_;
};

/// Why no test can run here; "" where there is a GPU.
std::string no_gpu_reason();
Gpu& gpu();

}  // namespace sluice

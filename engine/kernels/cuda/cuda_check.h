// Which call to CUDA failed, where, and what helps? Exit status 3 if the GPU itself failed, else 1.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace sluice {

/// A call to CUDA, cuBLAS or cuDNN failed. The message is the whole sentence shown.
class CudaError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The fault of the GPU itself that a status names, which lasts until the GPU is reset or replaced;
/// null for every other status.
const char* gpu_fault(cudaError_t status);

/// `rms_norm.cu:88 cudaMalloc(&p, n): out of memory. HINT: ...`; `file` may be a path. Without a
/// hint if `hint` is empty. MachineError in its place if the GPU has failed.
[[noreturn]] void throw_cuda_error(const char* file, int line, const char* expression,
                                   const std::string& reason, const std::string& hint);

/// Throws CudaError or MachineError unless `status` is cudaSuccess. Use SLUICE_CHECK_CUDA.
void check_cuda(cudaError_t status, const char* expression, const char* file, int line);

}  // namespace sluice

/// SLUICE_CHECK_CUDA(cudaMalloc(&data, bytes)); and SLUICE_CHECK_CUDA(cudaGetLastError()) after a
/// launch.
#define SLUICE_CHECK_CUDA(expression) \
    ::sluice::check_cuda((expression), #expression, __FILE__, __LINE__)

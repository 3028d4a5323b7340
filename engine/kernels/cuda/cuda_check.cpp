#include "engine/kernels/cuda/cuda_check.h"

#include <fmt/format.h>

#include <string_view>

namespace sluice {
namespace {

/// A remedy for `status`; "" if its name says as much.
const char* hint_for(cudaError_t status) {
    switch (status) {
        case cudaErrorMemoryAllocation:
            return "nvidia-smi shows what else holds device memory; a smaller micro-batch needs "
                   "less";
        case cudaErrorNoDevice:
        case cudaErrorInsufficientDriver:
            return "training needs an NVIDIA GPU and a driver for CUDA 13 (580 or newer); "
                   "nvidia-smi shows both";
        case cudaErrorNoKernelImageForDevice:
        case cudaErrorUnsupportedPtxVersion:
            return "this build has no code for this GPU; configure it with "
                   "-DCMAKE_CUDA_ARCHITECTURES=native";
        case cudaErrorIllegalAddress:
        case cudaErrorMisalignedAddress:
        case cudaErrorLaunchFailure:
            return "an earlier kernel reached memory that is not its own; please report it with "
                   "the output of compute-sanitizer";
        default:
            return "";
    }
}

}  // namespace

void throw_cuda_error(const char* file, int line, const char* expression, const std::string& reason,
                      const std::string& hint) {
    std::string_view name = file;
    name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
    throw CudaError(fmt::format("{}:{} {}: {}.{}{}", name, line, expression, reason,
                                hint.empty() ? "" : " HINT: ", hint));
}

void check_cuda(cudaError_t status, const char* expression, const char* file, int line) {
    if (status == cudaSuccess) return;
    throw_cuda_error(file, line, expression, cudaGetErrorString(status), hint_for(status));
}

}  // namespace sluice

#include "engine/kernels/cuda/cuda_check.h"

#include <fmt/format.h>

#include <string_view>

#include "sim/base/input_error.h"

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

/// "cuda_device.cpp:88 cudaMalloc(&p, n)"
std::string place(const char* file, int line, const char* expression) {
    std::string_view name = file;
    name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
    return fmt::format("{}:{} {}", name, line, expression);
}

void throw_if_gpu_failed(cudaError_t status, const std::string& where) {
    if (const char* const fault = gpu_fault(status))
        throw MachineError(
            fmt::format("the GPU failed: {} ({}: {})", fault, where, cudaGetErrorString(status)));
}

}  // namespace

const char* gpu_fault(cudaError_t status) {
    switch (status) {
        case cudaErrorECCUncorrectable:
            return "its memory has an error that it cannot correct";
        case cudaErrorContained:
            return "it stopped this program because of an error of its memory or links";
        case cudaErrorNvlinkUncorrectable:
            return "its NVLink has an error that it cannot correct";
        case cudaErrorHardwareStackError:
            return "its call stack is damaged";
        case cudaErrorDevicesUnavailable:
        case cudaErrorSystemNotReady:
        case cudaErrorOperatingSystem:
        case cudaErrorExternalDevice:
        case cudaErrorUnknown:
            return "it no longer answers";
        default:
            return nullptr;
    }
}

void throw_cuda_error(const char* file, int line, const char* expression, const std::string& reason,
                      const std::string& hint) {
    const std::string where = place(file, line, expression);
    // Libraries have a status of their own for a GPU that has failed; CUDA repeats the reason.
    throw_if_gpu_failed(cudaGetLastError(), where);
    throw CudaError(fmt::format("{}: {}.{}{}", where, reason, hint.empty() ? "" : " HINT: ", hint));
}

void check_cuda(cudaError_t status, const char* expression, const char* file, int line) {
    if (status == cudaSuccess) return;
    throw_if_gpu_failed(status, place(file, line, expression));
    throw_cuda_error(file, line, expression, cudaGetErrorString(status), hint_for(status));
}

}  // namespace sluice

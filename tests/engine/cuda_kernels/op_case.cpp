#include "tests/engine/cuda_kernels/op_case.h"

#include <cmath>
#include <limits>

namespace sluice {

double share_of(Tolerance tolerance, const std::vector<double>& actual,
                const std::vector<double>& expected) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (actual.size() != expected.size() || actual.empty()) return kInfinity;
    double worst = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double allowed = tolerance.absolute + tolerance.relative * std::abs(expected[i]);
        const double error = std::abs(actual[i] - expected[i]);
        if (!(error <= allowed)) {
            // Also where one of them is NaN.
            worst =
                std::max(worst, std::isfinite(error) && allowed > 0 ? error / allowed : kInfinity);
        } else if (allowed > 0) {
            worst = std::max(worst, error / allowed);
        }
    }
    return worst;
}

double share_of_surroundings(const std::vector<const DeviceMatrix*>& matrices) {
    const bool intact =
        std::all_of(matrices.begin(), matrices.end(),
                    [](const DeviceMatrix* matrix) { return matrix->surroundings_intact(); });
    return intact ? 0 : std::numeric_limits<double>::infinity();
}

Gpu::Gpu() : scratch_(allocate_on_device(kCudaScratchBytes)) {
    SLUICE_CHECK_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    // Whoever reads scratch before writing it finds NaN.
    SLUICE_CHECK_CUDA(
        cudaMemset(scratch_.get(), 0xff, static_cast<std::size_t>(kCudaScratchBytes)));
    wait_for_device();
    kernels_ = std::make_unique<CudaKernels>(stream_, Scratch{scratch_.get(), kCudaScratchBytes});
}

std::string no_gpu_reason() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess) return cudaGetErrorString(status);
    return count == 0 ? "no GPU" : "";
}

Gpu& gpu() {
    // Never destroyed: at exit the CUDA runtime may be gone before it.
    static Gpu& instance = *new Gpu;
    return instance;
}

}  // namespace sluice

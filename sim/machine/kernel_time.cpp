#include "sim/machine/kernel_time.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

// cuBLAS picks among a few output tiles on Hopper; the best for a shape wastes the fewest multiprocessors.
constexpr std::int64_t kTiles[][2] = {{256, 128}, {128, 256}, {128, 128}};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

Seconds gemm_time(const GpuSpec& gpu, const Kernel& kernel) {
    const double rate = gpu.gemm_flops_per_s * wave_efficiency(gpu.multiprocessors, kernel.m, kernel.n, kernel.count);
    return std::max(kernel.flops / rate, kernel.bytes / gpu.memory_bandwidth);
}

Seconds attention_time(const GpuSpec& gpu, const Kernel& kernel, KernelStyle style) {
    const AttentionRates& rates = style == KernelStyle::fused ? gpu.fused_attention : gpu.flash_attention;
    const Interpolated& curve = kernel.kind == KernelKind::attention_forward ? rates.forward : rates.backward;
    // Curves are for head_dim 128; softmax work does not shrink with the head, so smaller heads reach less.
    const double narrow = std::min(1.0, 0.5 + 0.5 * static_cast<double>(kernel.head_dim) / 128);
    return std::max(kernel.flops / (curve.at(static_cast<double>(kernel.sequence)) * narrow), kernel.bytes / gpu.memory_bandwidth);
}

}  // namespace

double wave_efficiency(double multiprocessors, std::int64_t m, std::int64_t n, std::int64_t count) {
    double best = 0;
    for (const auto& tile : kTiles) {
        const double tiles = static_cast<double>(ceil_div(m, tile[0]) * ceil_div(n, tile[1]) * count);
        const double waves = std::ceil(tiles / multiprocessors);
        const double covered = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(count) /
                               (tiles * static_cast<double>(tile[0] * tile[1]));
        best = std::max(best, covered * tiles / (waves * multiprocessors));
    }
    return best;
}

Seconds kernel_time(const GpuSpec& gpu, const Kernel& kernel, KernelStyle style) {
    const Seconds launches = gpu.launch * static_cast<double>(kernel.launches);
    switch (kernel.kind) {
        case KernelKind::gemm: return launches + gemm_time(gpu, kernel);
        case KernelKind::attention_forward:
        case KernelKind::attention_backward: return launches + attention_time(gpu, kernel, style);
        case KernelKind::memory_bound: break;
    }
    return launches + kernel.bytes / gpu.memory_bandwidth;
}

Seconds kernels_time(const GpuSpec& gpu, const KernelList& kernels, KernelStyle style) {
    Seconds device = 0;
    for (const Kernel& kernel : kernels) device += kernel_time(gpu, kernel, style);
    const Seconds host = style == KernelStyle::eager ? gpu.eager_launch * static_cast<double>(total_launches(kernels)) : 0;
    return std::max(device, host);
}

double copy_rate(const LinkSpec& link, double full_rate, double bytes) {
    return link.share_by_bytes.empty() ? full_rate : full_rate * link.share_by_bytes.at(bytes);
}

}  // namespace sluice

#include "sim/machine/kernel_time.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

constexpr std::int64_t kTile =
    128;  // rows and columns of an output tile that one multiprocessor computes

double tiles_of(std::int64_t size) {
    return std::ceil(static_cast<double>(size) / static_cast<double>(kTile));
}

Seconds gemm_time(const GpuSpec& gpu, const Kernel& kernel) {
    const double rate =
        gpu.gemm_flops_per_s * busy_share(gpu.multiprocessors, kernel.m, kernel.n, kernel.count);
    const double bytes = kernel.bytes - kernel.added_bytes;
    return gpu.gemm_overhead + std::max(kernel.flops / rate, bytes / gpu.memory_bandwidth) +
           kernel.added_bytes / gpu.memory_bandwidth;
}

Seconds attention_time(const GpuSpec& gpu, const Kernel& kernel, KernelStyle style) {
    const AttentionRates& rates =
        style == KernelStyle::fused ? gpu.fused_attention : gpu.flash_attention;
    const Interpolated& curve =
        kernel.kind == KernelKind::attention_forward ? rates.forward : rates.backward;
    // Curves are for head_dim 128; a narrower head reaches less, as softmax does not shrink with
    // it.
    const double narrow = std::clamp(
        1 - (1 - gpu.narrow_head_share) * 2 * (1 - static_cast<double>(kernel.head_dim) / 128),
        gpu.narrow_head_share, 1.0);
    return std::max(kernel.flops / (curve.at(static_cast<double>(kernel.sequence)) * narrow),
                    kernel.bytes / gpu.memory_bandwidth);
}

/// Nothing where it is not measured: attention and the kernels bound by memory are the engine's,
/// products anyone's.
std::optional<Seconds> measured_time(const GpuSpec& gpu, const Kernel& kernel, KernelStyle style) {
    if (style != KernelStyle::fused && kernel.kind != KernelKind::gemm) return std::nullopt;
    const auto id = kernel_table_of(kernel);
    if (!id) return std::nullopt;
    const KernelTable& table = gpu.tables[static_cast<std::size_t>(*id)];
    if (table.empty()) return std::nullopt;
    return table.time(kernel_features(*id, kernel, gpu.multiprocessors),
                      kernel_coordinates(*id, kernel));
}

KernelCost kernel_cost(const GpuSpec& gpu, const Kernel& kernel, KernelStyle style) {
    const Seconds seconds = kernel_time(gpu, kernel, style);
    const ClockSpec& clock = gpu.clock;
    const auto cost = [seconds](double share, double watts) {
        return KernelCost{seconds, share * seconds, watts * share * seconds};
    };
    switch (kernel.kind) {
        case KernelKind::gemm:
            return cost(clock.gemm_share, clock.gemm_w);
        case KernelKind::attention_forward:
        case KernelKind::attention_backward:
            return cost(clock.attention_share, clock.attention_w);
        case KernelKind::memory_bound:
            break;
    }
    return cost(clock.memory_share, clock.memory_w);
}

}  // namespace

double busy_share(double multiprocessors, std::int64_t m, std::int64_t n, std::int64_t count) {
    return std::min(1.0, tiles_of(m) * tiles_of(n) * static_cast<double>(count) / multiprocessors);
}

Seconds kernel_time(const GpuSpec& gpu, const Kernel& kernel, KernelStyle style) {
    if (const auto measured = measured_time(gpu, kernel, style)) return *measured;
    const Seconds launches = gpu.launch * static_cast<double>(kernel.launches);
    switch (kernel.kind) {
        case KernelKind::gemm:
            return gemm_time(gpu, kernel);
        case KernelKind::attention_forward:
        case KernelKind::attention_backward:
            return launches + attention_time(gpu, kernel, style);
        case KernelKind::memory_bound:
            break;
    }
    return launches + kernel.bytes / gpu.memory_bandwidth;
}

KernelCost& KernelCost::operator+=(const KernelCost& other) {
    seconds += other.seconds;
    rested += other.rested;
    rested_j += other.rested_j;
    return *this;
}

KernelCost kernels_cost(const GpuSpec& gpu, const KernelList& kernels, KernelStyle style) {
    KernelCost cost;
    for (const Kernel& kernel : kernels) cost += kernel_cost(gpu, kernel, style);
    if (style == KernelStyle::eager) {
        const Seconds host = gpu.eager_launch * static_cast<double>(total_launches(kernels));
        cost.seconds = std::max(cost.seconds, host);
        cost.rested = std::max(cost.rested, host);
    }
    return cost;
}

double copy_rate(double full_rate, const Interpolated& share_by_bytes, double bytes) {
    return share_by_bytes.empty() ? full_rate : full_rate * share_by_bytes.at(bytes);
}

}  // namespace sluice

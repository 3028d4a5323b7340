#include "sim/specs/machine/kernel_time.h"

#include <algorithm>
#include <cmath>

#include "sim/specs/machine/attention_kernels.h"
#include "sim/specs/model/adapters.h"

namespace sluice {
namespace {

constexpr std::int64_t kTile =
    128;  // rows and columns of an output tile that one multiprocessor computes

double tiles_of(std::int64_t size) {
    return std::ceil(static_cast<double>(size) / static_cast<double>(kTile));
}

/// Products of experts are one kernel: one product of all their rows, where the last tile of each
/// expert is half empty. libtorch's on an H200, 128 experts of 768 x 2,048 that 262,144 and 65,536
/// copies of tokens reach at random: 688 and 558 TFLOP/s (sluice_cuda_kernels_bench experts).
Kernel as_one(const Kernel& k) {
    if (k.count == 1) return k;
    const std::int64_t empty = k.role == GemmRole::weight_gradient ? 0 : kTile / 2;
    Kernel one = k;
    one.count = 1;
    one.m = k.count * (k.m + empty);
    one.flops *= static_cast<double>(k.m + empty) / static_cast<double>(k.m);
    return one;
}

Seconds gemm_time(const GpuSpec& gpu, const Kernel& kernel) {
    const double rate = (kernel.fp8 ? gpu.fp8_gemm_flops_per_s : gpu.gemm_flops_per_s) *
                        busy_share(gpu.multiprocessors, kernel.m, kernel.n, kernel.count);
    const double bytes = kernel.bytes - kernel.added_bytes;
    return gpu.gemm_overhead + std::max(kernel.flops / rate, bytes / gpu.memory_bandwidth) +
           kernel.added_bytes / gpu.memory_bandwidth;
}

Seconds attention_time(const GpuSpec& gpu, const Kernel& kernel, KernelStyle style) {
    const bool cudnn = kernel.attention == AttentionKernel::own
                           ? style == KernelStyle::fused
                           : kernel.attention == AttentionKernel::cudnn;
    const AttentionRates& rates = cudnn ? gpu.fused_attention : gpu.flash_attention;
    const Interpolated& curve =
        kernel.kind == KernelKind::attention_forward ? rates.forward : rates.backward;
    // Curves are for head_dim 128; a smaller head is slower, since softmax takes the same time.
    const double narrow = std::clamp(
        1 - (1 - gpu.narrow_head_share) * 2 * (1 - static_cast<double>(kernel.head_dim) / 128),
        gpu.narrow_head_share, 1.0);
    const double rate = curve.at(static_cast<double>(kernel.sequence)) * over_flash2(kernel);
    return std::max(kernel.flops / (rate * narrow), kernel.bytes / gpu.memory_bandwidth);
}

Seconds measured_time(const GpuSpec& gpu, const Kernel& kernel, KernelTableId id) {
    return gpu.tables[static_cast<std::size_t>(id)].time(
        kernel_features(id, kernel, gpu.multiprocessors), kernel_coordinates(id, kernel));
}

/// Multiprocessors do this work, each as fast as one of the H200's 132, also beside slower memory.
Seconds work_time(const GpuSpec& gpu, const Kernel& kernel) {
    constexpr double kOfOne = 4260e9 / 132;
    return kernel.work_bytes /
           (gpu.multiprocessors > 1 ? gpu.multiprocessors * kOfOne : gpu.memory_bandwidth);
}

/// A lower clock slows down everything except moving the kernel's bytes and what comes with it.
KernelCost kernel_cost(const GpuSpec& gpu, const Kernel& kernel, KernelStyle style) {
    const ClockSpec& clock = gpu.clock;
    const Seconds known = kernel_time(gpu, kernel, style);
    const Seconds by_memory =
        std::min(known, kernel.bytes / gpu.memory_bandwidth + work_time(gpu, kernel));
    // Tables have times at the highest clock, other rates are those at the power limit.
    const bool highest = measured_table(gpu, kernel, style).has_value();
    const double to_limit = highest ? 1 / clock.time_share : 1;
    const double to_highest = highest ? 1 : clock.time_share;
    KernelCost cost;
    cost.seconds = by_memory + (known - by_memory) * to_highest;
    cost.at_limit = by_memory + (known - by_memory) * to_limit;
    cost.joules = clock.idle_w * cost.seconds + work_joules(gpu, kernel);
    return cost;
}

}  // namespace

std::optional<KernelTableId> measured_table(const GpuSpec& gpu, const Kernel& kernel,
                                            KernelStyle style) {
    if (style != KernelStyle::fused && kernel.kind != KernelKind::gemm) return std::nullopt;
    const auto id = kernel_table_of(kernel);
    const bool is_measured = id && !gpu.tables[static_cast<std::size_t>(*id)].empty();
    return is_measured ? id : std::nullopt;
}

double busy_share(double multiprocessors, std::int64_t m, std::int64_t n, std::int64_t count) {
    return std::min(1.0, tiles_of(m) * tiles_of(n) * static_cast<double>(count) / multiprocessors);
}

Seconds kernel_time(const GpuSpec& gpu, const Kernel& kernel, KernelStyle style) {
    // Tokens are spread unevenly: with 6.5 times the mean on the busiest of 128 experts, as random
    // weights of qwen3-30b-a3b have it, libtorch's products reached 581, 567 and 580 TFLOP/s on an
    // H200, with equal shares 613, 594 and 605.
    constexpr double kUneven = 1.05;
    // Products of adapters, as many as modules share an input, are kernels of their own.
    if (kernel.kind == KernelKind::gemm && kernel.count > kMostModules)
        return kUneven * kernel_time(gpu, as_one(kernel), style);
    if (const auto id = measured_table(gpu, kernel, style))
        return measured_time(gpu, kernel, *id) + work_time(gpu, kernel);
    const Seconds launches = gpu.launch * static_cast<double>(kernel.launches);
    switch (kernel.kind) {
        case KernelKind::gemm:
            return gemm_time(gpu, kernel) + work_time(gpu, kernel);
        case KernelKind::attention_forward:
        case KernelKind::attention_backward:
            return launches + attention_time(gpu, kernel, style);
        case KernelKind::memory_bound:
            break;
    }
    return launches + kernel.bytes / (kernel.fp8 ? gpu.fp8_cast_rate : gpu.memory_bandwidth) +
           work_time(gpu, kernel);
}

double work_joules(const GpuSpec& gpu, const Kernel& kernel) {
    const ClockSpec& clock = gpu.clock;
    const bool attention = kernel.kind == KernelKind::attention_forward ||
                           kernel.kind == KernelKind::attention_backward;
    // At the power limit a FLOP in FP8 takes less energy by as much as it is quicker.
    const bool fp8 = kernel.fp8 && kernel.kind == KernelKind::gemm;
    const double of_bf16 = fp8 ? gpu.gemm_flops_per_s / gpu.fp8_gemm_flops_per_s : 1;
    const double a_flop =
        attention ? clock.joules_per_flop_of_attention : clock.joules_per_flop * of_bf16;
    return clock.joules_per_byte * (kernel.bytes + kernel.work_bytes) + a_flop * kernel.flops;
}

KernelCost& KernelCost::operator+=(const KernelCost& other) {
    seconds += other.seconds;
    at_limit += other.at_limit;
    joules += other.joules;
    return *this;
}

KernelCost& KernelCost::operator*=(double runs) {
    seconds *= runs;
    at_limit *= runs;
    joules *= runs;
    return *this;
}

KernelCost kernels_cost(const GpuSpec& gpu, const KernelList& kernels, KernelStyle style) {
    KernelCost cost;
    for (const Kernel& kernel : kernels) cost += kernel_cost(gpu, kernel, style);
    return cost;
}

double copy_rate(double full_rate, const Interpolated& share_by_bytes, double bytes) {
    return share_by_bytes.empty() ? full_rate : full_rate * share_by_bytes.at(bytes);
}

}  // namespace sluice

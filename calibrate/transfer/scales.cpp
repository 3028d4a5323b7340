#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "calibrate/transfer/transfer_rules.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

// Ranges: the achieved share of a peak was compared between all pairs of machines for which
// hwprofiles/ has both; 5 to 95% is exp(+-1.645 r), r the root mean square of the logarithms of
// their ratios.

// The best bf16 product of 8 NVIDIA GPUs (A100 SXM and PCIe, H100, B200, B300, GB200, RTX 3090, RTX
// 4090) over the dense rate falls from 1.07 to 0.73 as TDP over dense rate falls: its logarithm is
// proportional to the latter's with a factor of 0.14 (least squares, residuals 2.9%). Then r is
// 0.039, without it 0.179. TDP over multiprocessors does not explain it across generations:
// exponent -0.18, residuals 11%.
constexpr double kPowerExponent = 0.14;
constexpr RateRange kComputeWithPower = {0.94, 1.07};
constexpr RateRange kComputeAlone = {0.74, 1.34};

// A new architecture may not have an equally good attention yet: flash over cuDNN on the measured
// H200 is 0.61 forward and 0.62 backward at 4096 tokens.
constexpr double kOtherAttention = 0.61;

// DGX Spark 0.85, GB200 0.82, GH200 0.93, H200 0.89 of the peak.
constexpr RateRange kMemory = {0.88, 1.14};

// PCIe in one direction: A100 and RTX 4090 0.82 to 0.86, RTX 5090 0.89 to 0.91, H200 0.88 of the
// raw rate. In both directions at once, to the device: 0.40 (A100), 0.44 (RTX 4090), 0.81 (RTX
// 5090), 0.76 (H200). NVLink-C2C in one direction: 0.43 to 0.84.
constexpr RateRange kSameLink = {0.91, 1.10};
constexpr RateRange kOtherLink = {0.48, 1.10};
constexpr double kBothWaysLow = 0.43;

// STREAM: 0.91 (GH200), 0.85 (EPYC 9004 and 7003, DGX Spark), at their low ends 0.81 and 0.71.
constexpr RateRange kHost = {0.82, 1.21};
// Adam: 0.43 of the peak on 2x Xeon 8168 (3.9 Gparam/s of 28 bytes), 0.59 of one Xeon 8480's on the
// H200 machine.
constexpr RateRange kAdam = {0.58, 1.72};

double needed(const MachineProfile& profile, const char* path, const char* what_to_do) {
    if (const auto value = profile.number(path)) return *value;
    throw InputError(fmt::format("{}: {} is {}, expected a number to scale by; {}", profile.file,
                                 path, profile.find(path) == nullptr ? "missing" : "null",
                                 what_to_do));
}

double of_measured(const MachineProfile& profile, const char* path) {
    return needed(profile, path,
                  "calibrate a GPU with --base PROFILE, a profile that has its datasheet");
}

double of_datasheet(const MachineProfile& profile, const char* path) {
    return needed(profile, path, "look it up in the vendor's datasheet");
}

double ratio(const MachineProfile& measured, const MachineProfile& datasheet, const char* path) {
    return of_datasheet(datasheet, path) / of_measured(measured, path);
}

double largest_rate(const MachineProfile& profile, const char* path) {
    const Curve* curve = profile.find_curve(path);
    double most = 0;
    if (curve != nullptr)
        for (const auto& point : curve->points) most = std::max(most, point[1]);
    return most;
}

/// Peak of the host's memory. For a machine that hides it, the peak that would give the best
/// measured rate: STREAM does not count reads of lines that are only overwritten, so reads and Adam
/// show more.
double host_peak(const MachineProfile& measured) {
    if (const auto peak = measured.number("host.memory_bandwidth_gb_per_s")) return *peak;
    const double adam = measured.number("host.adam_bytes_per_parameter").value_or(0) *
                        largest_rate(measured, "host.adam_gparams_per_s_by_threads");
    const double most =
        std::max({measured.number("host.memory_bandwidth_stream_gb_per_s").value_or(0),
                  measured.number("host.memory_bandwidth_shared_gb_per_s").value_or(0),
                  largest_rate(measured, "host.other.read_gb_per_s_by_threads"), adam});
    if (most > 0) return most / kStreamOfPeak;
    return of_measured(measured, "host.memory_bandwidth_gb_per_s");
}

/// All of PCIe are of one kind, NVLink-C2C is of another, and so are copies within one memory.
bool same_kind_of_link(const MachineProfile& a, const MachineProfile& b) {
    const auto same = [&](const char* path) { return a.flag(path) == b.flag(path); };
    return same("link.chip_to_chip") && same("host.unified_memory");
}

void scale_products(const MachineProfile& measured, const MachineProfile& datasheet,
                    Scales& scales) {
    const double peak = ratio(measured, datasheet, "gpu.bf16_dense_tflops");
    const auto old_power = measured.number("gpu.tdp_w"), new_power = datasheet.number("gpu.tdp_w");
    if (old_power && new_power) {
        scales.power = *new_power / *old_power;
        scales.efficiency = std::pow(scales.power / peak, kPowerExponent);
    }
    scales.compute = peak * scales.efficiency;
    scales.compute_range = scales.power > 0 ? kComputeWithPower : kComputeAlone;
    scales.attention_range = {kOtherAttention * scales.compute_range.low,
                              scales.compute_range.high};
}

}  // namespace

Scales scales_between(const MachineProfile& measured, const MachineProfile& datasheet) {
    Scales scales;
    scale_products(measured, datasheet, scales);
    scales.old_multiprocessors = of_measured(measured, "gpu.multiprocessors");
    scales.new_multiprocessors = of_datasheet(datasheet, "gpu.multiprocessors");
    scales.multiprocessors = scales.new_multiprocessors / scales.old_multiprocessors;
    scales.memory = ratio(measured, datasheet, "gpu.memory_bandwidth_gb_per_s");
    scales.memory_range = kMemory;
    scales.link = ratio(measured, datasheet, "link.raw_per_direction_gb_per_s");
    scales.link_raw_gb_per_s = of_datasheet(datasheet, "link.raw_per_direction_gb_per_s");
    scales.link_range = same_kind_of_link(measured, datasheet) ? kSameLink : kOtherLink;
    scales.both_ways_range = {kBothWaysLow, scales.link_range.high};
    scales.host_peak_gb_per_s = of_datasheet(datasheet, "host.memory_bandwidth_gb_per_s");
    scales.host = scales.host_peak_gb_per_s / host_peak(measured);
    scales.host_range = kHost;
    scales.adam_range = kAdam;
    scales.new_cores = of_datasheet(datasheet, "host.cores");
    return scales;
}

std::string scales_text(const Scales& scales) {
    return fmt::format(
        "Scaled by: products {:.3f} (of it {:.3f} by power per FLOP), multiprocessors {:.3f}, GPU "
        "memory {:.3f}, link {:.3f}, host memory {:.3f}. Ranges of the rates, from how far such "
        "scaling misses between published machines: products {:.2f} to {:.2f}, attention {:.2f} to "
        "{:.2f}, GPU memory {:.2f} to {:.2f}, copies one way {:.2f} to {:.2f} and both ways {:.2f} "
        "to {:.2f}, host memory {:.2f} to {:.2f}, Adam {:.2f} to {:.2f}.",
        scales.compute, scales.efficiency, scales.multiprocessors, scales.memory, scales.link,
        scales.host, scales.compute_range.low, scales.compute_range.high,
        scales.attention_range.low, scales.attention_range.high, scales.memory_range.low,
        scales.memory_range.high, scales.link_range.low, scales.link_range.high,
        scales.both_ways_range.low, scales.both_ways_range.high, scales.host_range.low,
        scales.host_range.high, scales.adam_range.low, scales.adam_range.high);
}

}  // namespace sluice

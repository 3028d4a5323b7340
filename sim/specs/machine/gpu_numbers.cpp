// The rows of `gpu` and `kernels`, and the rules for numbers that a profile lacks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "sim/specs/machine/spec_reader.h"

namespace sluice {
namespace {

using Row = const MachineNumber&;

// Ratios measured on the H200 (hwprofiles/h200-pcie5-16vcpu-128gib.json), for profiles that lack
// numbers.
constexpr double kSustainedOfBest =
    671.2 / 794.5;  // large products under the power limit over the best product
constexpr double kSustainedOfDense =
    671.2 / 989;  // large products under the power limit over the dense datasheet rate
/// Large e4m3 products at the power limit, 1226 to 1299 TFLOPS at 32768 tokens of 7B shapes, over
/// bf16's 655 to 677 on the same H200 (2026-11-22). Datasheets give twice bf16's rate.
constexpr double kFp8OfBf16 = 1262.5 / 666;
constexpr double kAchievedOfPeakMemory = 4260.0 / 4800;  // device copy over the datasheet bandwidth
constexpr double kH200Gemm = 671.2e12;

/// TFLOPS of an attention implementation on the H200, at kSequences.
struct H200Attention {
    const char* name;
    std::array<double, 7> tflops;
};
constexpr std::array<double, 7> kSequences = {512, 1024, 2048, 4096, 8192, 32768, 131072};
constexpr H200Attention kFlashForward = {"flash forward", {199, 263, 297, 322, 334, 343, 333}};
constexpr H200Attention kFlashBackward = {"flash backward", {146, 202, 247, 279, 299, 320, 326}};
constexpr H200Attention kCudnnForward = {"cudnn forward", {340, 425, 484, 528, 561, 591, 558}};
constexpr H200Attention kCudnnBackward = {"cudnn backward", {206, 301, 387, 450, 495, 536, 539}};

constexpr const char* kPeakGemm = "gpu.bf16_dense_tflops";
constexpr const char* kBestGemm = "gpu.bf16_achieved_gemm_tflops";

double memory_bandwidth(Row row, SpecReader& reader, const MachineSpec&) {
    if (const auto achieved = reader.take(row.path)) return *achieved * kGiga;
    const double peak = reader.required("gpu.memory_bandwidth_gb_per_s");
    reader.assume(
        row.trust,
        fmt::format("device memory reaches {:.2f} of its {:g} GB/s, as on the measured H200",
                    kAchievedOfPeakMemory, peak));
    return kAchievedOfPeakMemory * peak * kGiga;
}

/// Share of the H200's share that large products sustain at that many watts of the power limit per
/// dense TFLOPS. The exponent is the one at which LLMQ's published steps on an RTX PRO 6000 are met
/// (1.19 W; validation/published). An A100 (1.28 W) then sustains 0.96, an RTX 4090 (2.7 W) all.
double share_at(double watts_per_tflops) {
    constexpr double kOfH200 = 700.0 / 989, kExponent = 0.21;
    return std::pow(watts_per_tflops / kOfH200, kExponent);
}

double gemm_rate(Row row, SpecReader& reader, const MachineSpec&) {
    if (const auto sustained = reader.take(row.path)) return *sustained * kTera;
    const auto power = reader.take("gpu.tdp_w"), best = reader.take(kBestGemm);
    const auto dense = best && !power ? std::nullopt : reader.take(kPeakGemm);
    const double of_power = power && dense ? share_at(*power / *dense) : 1;
    const double share = std::min(1.0, of_power * (best ? kSustainedOfBest : kSustainedOfDense));
    const double rate = best ? *best : reader.required(kPeakGemm);
    reader.assume(row.trust,
                  fmt::format("large bf16 products sustain {:.2f} of the {} {:g} TFLOPS, "
                              "{} the measured H200",
                              share, best ? "best" : "dense", rate,
                              power && dense ? "from the power limit and" : "as on"));
    return share * rate * kTera;
}

constexpr const char* kPeakFp8 = "gpu.fp8_dense_tflops";

/// With sums in fp16, twice as fast on GeForce GPUs; their datasheets quote sums in fp32.
constexpr const char* kFastFp8 = "gpu.fp8_fp16_sums_tflops";

/// 0 where it was not measured and the datasheet has no FP8. Where power does not limit bf16
/// products, FP8 is as much faster as on the datasheet.
double fp8_rate(Row row, SpecReader& reader, const MachineSpec& so_far) {
    if (const auto sustained = reader.take(row.path)) return *sustained * kTera;
    const auto fp8 = reader.take(kPeakFp8), best = reader.take(kBestGemm);
    if (!fp8) return 0;
    const double bf16 = so_far.gpu.gemm_flops_per_s;
    const auto dense = best && bf16 >= *best * kTera ? reader.take(kPeakGemm) : std::nullopt;
    return bf16 * (dense ? *fp8 / *dense : kFp8OfBf16);
}

/// Casts count the bytes that would take their time at the rate of a device copy on the H200.
double fp8_cast_rate(Row row, SpecReader& reader, const MachineSpec& so_far) {
    const auto measured = reader.take(row.path);
    return measured ? *measured * kGiga : so_far.gpu.memory_bandwidth;
}

double multiprocessors(Row row, SpecReader& reader, const MachineSpec&) {
    if (const auto count = reader.take(row.path)) return *count;
    reader.assume(Trust::measured,
                  "the GPU's number of multiprocessors is not known: products of any size keep all "
                  "of them busy");
    return 1;
}

bool has_kernel_times(const SpecReader& reader) { return !reader.profile().kernels.empty(); }

/// Measured kernel times include it.
double of_attention(Row row, SpecReader& reader, const MachineSpec&) {
    return has_kernel_times(reader) ? reader.take(row.path).value_or(row.h200)
                                    : reader.constant(row);
}

/// If the profile lacks the curve, it is the H200's, scaled by the matrix rate.
template <const H200Attention& H200>
Interpolated attention(Row row, SpecReader& reader, const MachineSpec& so_far) {
    auto points = reader.take_curve(row.path);
    for (auto& [sequence, rate] : points) rate *= kTera;
    if (!points.empty()) return Interpolated(std::move(points));
    // The fused kernels' own times replace their curves.
    if (row.trust == Trust::others || !has_kernel_times(reader))
        reader.assume_of(row.trust, "attention (", H200.name,
                         ") reaches the same share of the matrix rate as on the measured H200");
    const double scale = so_far.gpu.gemm_flops_per_s / kH200Gemm;
    for (std::size_t i = 0; i < kSequences.size(); ++i)
        points.emplace_back(kSequences[i], H200.tflops[i] * scale * kTera);
    return Interpolated(std::move(points));
}

constexpr MachineNumber reference(std::string_view path, Transfer transfer = Transfer::left_out,
                                  const char* measured_by = nullptr) {
    return row(path, MeasuredBy{measured_by}, transfer);
}
constexpr MachineNumber text(std::string_view path) { return row(path, ValueKind::text); }
template <KernelTableId Id>
constexpr MachineNumber kernel(std::string_view path) {
    return row(path, ValueKind::kernels, Trust::measured, fill_table<Id>,
               MeasuredBy{kernel_table_case(Id)}, RateGroup::kernels);
}
template <auto Rates, auto Direction, const H200Attention& H200>
constexpr MachineNumber attention_curve(std::string_view path, Trust trust,
                                        const char* replaced_by = nullptr) {
    return row(path, ValueKind::curve, CurveShape::by_sequence, trust,
               fill<&MachineSpec::gpu, Rates, Direction>, &attention<H200>, MeasuredBy{"attention"},
               ReplacedBy{replaced_by}, RateGroup::kernels, Transfer::attention);
}
/// Casts count up to 1.25 times the bytes that they move.
constexpr double kCountedBytes = 1.4;
constexpr const char* kGemmTimes = "kernels.gemm_forward";

constexpr std::array kGpuRows = {
    text("gpu.maker"),
    text("gpu.name"),
    text("gpu.compute_capability"),
    text("gpu.driver_name"),
    row("gpu.memory_capacity_gb", Trust::as_given,
        fill<&MachineSpec::gpu, &GpuSpec::memory_capacity>, Required{},
        Shown{"device memory", "memory of the GPU"}),
    row("gpu.memory_bandwidth_gb_per_s", Trust::datasheet,
        Shown{"device memory rate", "of the datasheet"}),
    row("gpu.memory_bandwidth_achieved_gb_per_s", Trust::measured,
        fill<&MachineSpec::gpu, &GpuSpec::memory_bandwidth>, &memory_bandwidth,
        MeasuredBy{"device_copy"}, AtMost{"gpu.memory_bandwidth_gb_per_s"}, RateGroup::kernels,
        Transfer::gpu_memory),
    row(kPeakGemm, Trust::datasheet),
    row(kBestGemm, Trust::measured, MeasuredBy{"gemm"}, AtMost{kPeakGemm}, Transfer::products,
        Shown{"matrix rate", "best large bf16 product"}),
    reference("gpu.fp8_achieved_gemm_tflops", Transfer::products),
    reference("gpu.fp32_tflops"),
    row("gpu.multiprocessors", Trust::datasheet, fill<&MachineSpec::gpu, &GpuSpec::multiprocessors>,
        &multiprocessors),
    row("gpu.tdp_w", Trust::datasheet),
    reference("gpu.release_year"),
    row("gpu.context_gb", Trust::as_given, fill<&MachineSpec::gpu, &GpuSpec::context>,
        OnH200{0.878}, Transfer::as_measured),
    row("kernels.gemm_sustained_tflops", Trust::measured,
        fill<&MachineSpec::gpu, &GpuSpec::gemm_flops_per_s>, &gemm_rate, MeasuredBy{"gemm"},
        AtMost{kPeakGemm}, RateGroup::kernels, Transfer::products),
    row(kPeakFp8, Trust::datasheet),
    reference(kFastFp8),
    row("kernels.fp8_gemm_sustained_tflops", Trust::datasheet,
        fill<&MachineSpec::gpu, &GpuSpec::fp8_gemm_flops_per_s>, &fp8_rate, MeasuredBy{"fp8"},
        AtMost{.peak = kPeakFp8, .faster_peak = kFastFp8}, RateGroup::kernels),
    row("kernels.fp8_cast_gb_per_s", Trust::datasheet,
        fill<&MachineSpec::gpu, &GpuSpec::fp8_cast_rate>, &fp8_cast_rate, MeasuredBy{"fp8"},
        AtMost{"gpu.memory_bandwidth_gb_per_s", kCountedBytes}, RateGroup::kernels),
    row("kernels.gemm_overhead_us", Trust::measured,
        fill<&MachineSpec::gpu, &GpuSpec::gemm_overhead>, OnH200{4}, MeasuredBy{"gemm"},
        RateGroup::kernels, Transfer::as_measured),
    // See power_numbers.cpp.
    row("kernels.rested_time_share", Trust::measured, MeasuredBy{"clock"}, ReplacedBy{kGemmTimes},
        Transfer::as_measured),
    row("kernels.launch_us", Trust::measured, fill<&MachineSpec::gpu, &GpuSpec::launch>,
        OnH200{1.09}, MeasuredBy{"launch"}, RateGroup::kernels, Transfer::as_measured),
    row("kernels.eager_launch_us", Trust::others, fill<&MachineSpec::gpu, &GpuSpec::eager_launch>,
        OnH200{5}, RateGroup::host_work, GainsFrom{part::python}, Transfer::as_measured),
    attention_curve<&GpuSpec::flash_attention, &AttentionRates::forward, kFlashForward>(
        "kernels.attention_flash_forward_tflops_by_sequence", Trust::others),
    attention_curve<&GpuSpec::flash_attention, &AttentionRates::backward, kFlashBackward>(
        "kernels.attention_flash_backward_tflops_by_sequence", Trust::others),
    attention_curve<&GpuSpec::fused_attention, &AttentionRates::forward, kCudnnForward>(
        "kernels.attention_cudnn_forward_tflops_by_sequence", Trust::measured,
        "kernels.attention_forward"),
    attention_curve<&GpuSpec::fused_attention, &AttentionRates::backward, kCudnnBackward>(
        "kernels.attention_cudnn_backward_tflops_by_sequence", Trust::measured,
        "kernels.attention_backward"),
    row("kernels.attention_narrow_head_share", Trust::measured,
        fill<&MachineSpec::gpu, &GpuSpec::narrow_head_share>, &of_attention, OnH200{0.8},
        Transfer::as_measured),
    row("kernels.rms_norm_gb_per_s", ReplacedBy{"kernels.rms_norm"}, Transfer::gpu_memory),
#define SLUICE_KERNEL_ROW(name) kernel<KernelTableId::name>("kernels." #name),
    SLUICE_KERNEL_TABLES(SLUICE_KERNEL_ROW)
#undef SLUICE_KERNEL_ROW
        row("kernels.first_step_extra_s", Trust::measured,
            fill<&MachineSpec::gpu, &GpuSpec::first_step_extra>, &of_attention, OnH200{0.5},
            Transfer::as_measured),
};

}  // namespace

std::span<const MachineNumber> gpu_numbers() { return kGpuRows; }

}  // namespace sluice

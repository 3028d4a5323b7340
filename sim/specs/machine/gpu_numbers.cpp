// The rows of `gpu` and `kernels`, and what stands in for those that a profile lacks.
#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "sim/specs/machine/spec_reader.h"

namespace sluice {
namespace {

using Row = const MachineNumber&;

// Ratios measured on the H200 (hwprofiles/h200-pcie5-16vcpu-128gib.json) that fill the gaps of
// other profiles.
constexpr double kSustainedOfBest =
    671.2 / 794.5;  // large products under the power limit, of the best product
constexpr double kSustainedOfDense = 671.2 / 989;        // ... of the dense datasheet rate
constexpr double kAchievedOfPeakMemory = 4260.0 / 4800;  // device copy, of the datasheet bandwidth
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

double memory_bandwidth(Row row, SpecReader& reader, const MachineSpec&) {
    if (const auto achieved = reader.take(row.path)) return *achieved * kGiga;
    const double peak = reader.required("gpu.memory_bandwidth_gb_per_s");
    reader.assume(row.trust, fmt::format("device memory reaches {:.2f} of its {:g} GB/s, as on "
                                         "the H200 measured",
                                         kAchievedOfPeakMemory, peak));
    return kAchievedOfPeakMemory * peak * kGiga;
}

double gemm_rate(Row row, SpecReader& reader, const MachineSpec&) {
    if (const auto sustained = reader.take(row.path)) return *sustained * kTera;
    if (const auto best = reader.take("gpu.bf16_achieved_gemm_tflops")) {
        reader.assume(row.trust,
                      fmt::format("large bf16 products sustain {:.2f} of the best {:g} TFLOPS, as "
                                  "on the H200 measured",
                                  kSustainedOfBest, *best));
        return kSustainedOfBest * *best * kTera;
    }
    const double dense = reader.required("gpu.bf16_dense_tflops");
    reader.assume(row.trust, fmt::format("large bf16 products sustain {:.2f} of the dense {:g} "
                                         "TFLOPS, as on the H200 measured",
                                         kSustainedOfDense, dense));
    return kSustainedOfDense * dense * kTera;
}

double multiprocessors(Row row, SpecReader& reader, const MachineSpec&) {
    if (const auto count = reader.take(row.path)) return *count;
    reader.assume(
        Trust::measured,
        "how many multiprocessors the GPU has is not known: products of any size keep all busy");
    return 1;
}

bool has_kernel_times(const SpecReader& reader) { return !reader.profile().kernels.empty(); }

/// Measured times of kernels have it in them.
double of_attention(Row row, SpecReader& reader, const MachineSpec&) {
    return has_kernel_times(reader) ? reader.take(row.path).value_or(row.h200)
                                    : reader.constant(row);
}

/// A curve that the profile lacks is the H200's scaled by the matrix rate.
template <const H200Attention& H200>
Interpolated attention(Row row, SpecReader& reader, const MachineSpec& so_far) {
    auto points = reader.take_curve(row.path);
    for (auto& [sequence, rate] : points) rate *= kTera;
    if (!points.empty()) return Interpolated(std::move(points));
    // The fused kernels' own times take the place of their curves.
    if (row.trust == Trust::others || !has_kernel_times(reader))
        reader.assume_of(
            row.trust, "attention (", H200.name,
            ") reaches the share of the matrix rate that it does on the H200 measured");
    const double scale = so_far.gpu.gemm_flops_per_s / kH200Gemm;
    for (std::size_t i = 0; i < kSequences.size(); ++i)
        points.emplace_back(kSequences[i], H200.tflops[i] * scale * kTera);
    return Interpolated(std::move(points));
}

constexpr MachineNumber reference(std::string_view path, Transfer transfer = Transfer::left_out,
                                  const char* measured_by = nullptr) {
    return {.path = path, .measured_by = measured_by, .transfer = transfer};
}
constexpr MachineNumber text(std::string_view path) {
    return {.path = path, .kind = ValueKind::text};
}
template <KernelTableId Id>
constexpr MachineNumber kernel(std::string_view path) {
    return {.path = path,
            .kind = ValueKind::kernels,
            .trust = Trust::measured,
            .member = fill_table<Id>,
            .measured_by = kernel_table_case(Id),
            .group = RateGroup::kernels};
}
template <auto Rates, auto Direction, const H200Attention& H200>
constexpr MachineNumber attention_curve(std::string_view path, Trust trust,
                                        const char* replaced_by = nullptr) {
    return {.path = path,
            .kind = ValueKind::curve,
            .shape = CurveShape::by_sequence,
            .trust = trust,
            .member = fill<&MachineSpec::gpu, Rates, Direction>,
            .rule = &attention<H200>,
            .measured_by = "attention",
            .replaced_by = replaced_by,
            .group = RateGroup::kernels,
            .transfer = Transfer::attention};
}
constexpr const char* kPeakGemm = "gpu.bf16_dense_tflops";
constexpr const char* kGemmTimes = "kernels.gemm_forward";

constexpr std::array kGpuRows = {
    text("gpu.name"),
    MachineNumber{.path = "gpu.memory_capacity_gb",
                  .trust = Trust::as_given,
                  .member = fill<&MachineSpec::gpu, &GpuSpec::memory_capacity>,
                  .required = true,
                  .label = "device memory",
                  .help = "memory of the GPU"},
    MachineNumber{.path = "gpu.memory_bandwidth_gb_per_s",
                  .trust = Trust::datasheet,
                  .label = "device memory rate",
                  .help = "of the datasheet"},
    MachineNumber{.path = "gpu.memory_bandwidth_achieved_gb_per_s",
                  .trust = Trust::measured,
                  .member = fill<&MachineSpec::gpu, &GpuSpec::memory_bandwidth>,
                  .rule = &memory_bandwidth,
                  .measured_by = "device_copy",
                  .peak = "gpu.memory_bandwidth_gb_per_s",
                  .group = RateGroup::kernels,
                  .transfer = Transfer::gpu_memory},
    MachineNumber{.path = kPeakGemm, .trust = Trust::datasheet},
    MachineNumber{.path = "gpu.bf16_achieved_gemm_tflops",
                  .trust = Trust::measured,
                  .measured_by = "gemm",
                  .peak = kPeakGemm,
                  .transfer = Transfer::products,
                  .label = "matrix rate",
                  .help = "best large bf16 product"},
    reference("gpu.fp8_dense_tflops"),
    reference("gpu.fp8_achieved_gemm_tflops", Transfer::products),
    reference("gpu.fp32_tflops"),
    MachineNumber{.path = "gpu.multiprocessors",
                  .trust = Trust::datasheet,
                  .member = fill<&MachineSpec::gpu, &GpuSpec::multiprocessors>,
                  .rule = &multiprocessors},
    reference("gpu.tdp_w"),
    reference("gpu.release_year"),
    MachineNumber{.path = "gpu.context_gb",
                  .trust = Trust::as_given,
                  .member = fill<&MachineSpec::gpu, &GpuSpec::context>,
                  .h200 = 0.878,
                  .transfer = Transfer::as_measured},
    MachineNumber{.path = "kernels.gemm_sustained_tflops",
                  .trust = Trust::measured,
                  .member = fill<&MachineSpec::gpu, &GpuSpec::gemm_flops_per_s>,
                  .rule = &gemm_rate,
                  .measured_by = "gemm",
                  .peak = kPeakGemm,
                  .group = RateGroup::kernels,
                  .transfer = Transfer::products},
    MachineNumber{.path = "kernels.gemm_overhead_us",
                  .trust = Trust::measured,
                  .member = fill<&MachineSpec::gpu, &GpuSpec::gemm_overhead>,
                  .h200 = 4,
                  .measured_by = "gemm",
                  .group = RateGroup::kernels,
                  .transfer = Transfer::as_measured},
    MachineNumber{.path = "kernels.rested_time_share",  // see power_numbers.cpp
                  .trust = Trust::measured,
                  .measured_by = "clock",
                  .replaced_by = kGemmTimes,
                  .transfer = Transfer::as_measured},
    MachineNumber{.path = "kernels.launch_us",
                  .trust = Trust::measured,
                  .member = fill<&MachineSpec::gpu, &GpuSpec::launch>,
                  .h200 = 1.09,
                  .measured_by = "launch",
                  .group = RateGroup::kernels,
                  .transfer = Transfer::as_measured},
    MachineNumber{.path = "kernels.eager_launch_us",
                  .trust = Trust::others,
                  .member = fill<&MachineSpec::gpu, &GpuSpec::eager_launch>,
                  .h200 = 5,
                  .group = RateGroup::host_work,
                  .parts = part::python,
                  .transfer = Transfer::as_measured},
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
    MachineNumber{.path = "kernels.attention_narrow_head_share",
                  .trust = Trust::measured,
                  .member = fill<&MachineSpec::gpu, &GpuSpec::narrow_head_share>,
                  .rule = &of_attention,
                  .h200 = 0.8,
                  .transfer = Transfer::as_measured},
    MachineNumber{.path = "kernels.rms_norm_gb_per_s",
                  .replaced_by = "kernels.rms_norm",
                  .transfer = Transfer::gpu_memory},
    kernel<KernelTableId::gemm_forward>(kGemmTimes),
    kernel<KernelTableId::gemm_input_gradient>("kernels.gemm_input_gradient"),
    kernel<KernelTableId::gemm_weight_gradient>("kernels.gemm_weight_gradient"),
    kernel<KernelTableId::attention_forward>("kernels.attention_forward"),
    kernel<KernelTableId::attention_backward>("kernels.attention_backward"),
    kernel<KernelTableId::rms_norm>("kernels.rms_norm"),
    kernel<KernelTableId::rms_norm_backward>("kernels.rms_norm_backward"),
    kernel<KernelTableId::head_norm>("kernels.head_norm"),
    kernel<KernelTableId::head_norm_backward>("kernels.head_norm_backward"),
    kernel<KernelTableId::rotary>("kernels.rotary"),
    kernel<KernelTableId::swiglu>("kernels.swiglu"),
    kernel<KernelTableId::swiglu_backward>("kernels.swiglu_backward"),
    kernel<KernelTableId::bias_backward>("kernels.bias_backward"),
    kernel<KernelTableId::cross_entropy>("kernels.cross_entropy"),
    kernel<KernelTableId::sum_squares>("kernels.sum_squares"),
    kernel<KernelTableId::round_to_bf16>("kernels.round_to_bf16"),
    MachineNumber{.path = "kernels.first_step_extra_s",
                  .trust = Trust::measured,
                  .member = fill<&MachineSpec::gpu, &GpuSpec::first_step_extra>,
                  .rule = &of_attention,
                  .h200 = 0.5,
                  .transfer = Transfer::as_measured},
};

}  // namespace

std::span<const MachineNumber> gpu_numbers() { return kGpuRows; }

}  // namespace sluice

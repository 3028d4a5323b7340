#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "sim/base/input_error.h"
#include "sim/specs/machine/spec_reader.h"

namespace sluice {
namespace {

// Ratios measured on the H200 (hwprofiles/h200-pcie5-16vcpu-128gib.json) that fill the gaps of
// other profiles.
constexpr double kSustainedOfBest =
    671.2 / 794.5;  // large products under the power limit, of the best product
constexpr double kSustainedOfDense = 671.2 / 989;        // ... of the dense datasheet rate
constexpr double kAchievedOfPeakMemory = 4260.0 / 4800;  // device copy, of the datasheet bandwidth
constexpr double kH200Gemm = 671.2e12;

/// TFLOPS of an attention implementation on the H200, at kSequences.
using H200Rates = std::array<double, 7>;
constexpr H200Rates kSequences = {512, 1024, 2048, 4096, 8192, 32768, 131072};
constexpr H200Rates kFlashForward = {199, 263, 297, 322, 334, 343, 333};
constexpr H200Rates kFlashBackward = {146, 202, 247, 279, 299, 320, 326};
constexpr H200Rates kCudnnForward = {340, 425, 484, 528, 561, 591, 558};
constexpr H200Rates kCudnnBackward = {206, 301, 387, 450, 495, 536, 539};

double memory_gb_per_s(SpecReader& reader) {
    if (const auto achieved = reader.take("gpu.memory_bandwidth_achieved_gb_per_s"))
        return *achieved;
    const double peak = reader.required("gpu.memory_bandwidth_gb_per_s", Trust::datasheet);
    reader.transfer(
        fmt::format("device memory reaches {:.2f} of its {:g} GB/s, as on the H200 "
                    "measured",
                    kAchievedOfPeakMemory, peak));
    return kAchievedOfPeakMemory * peak;
}

double gemm_tflops(SpecReader& reader) {
    if (const auto sustained = reader.take("kernels.gemm_sustained_tflops")) return *sustained;
    if (const auto best = reader.take("gpu.bf16_achieved_gemm_tflops")) {
        reader.transfer(
            fmt::format("large bf16 products sustain {:.2f} of the best {:g} TFLOPS, as on the "
                        "H200 measured",
                        kSustainedOfBest, *best));
        return kSustainedOfBest * *best;
    }
    const double dense = reader.required("gpu.bf16_dense_tflops", Trust::datasheet);
    reader.transfer(fmt::format(
        "large bf16 products sustain {:.2f} of the dense {:g} TFLOPS, as on the H200 measured",
        kSustainedOfDense, dense));
    return kSustainedOfDense * dense;
}

double multiprocessors(SpecReader& reader) {
    if (const auto count = reader.take("gpu.multiprocessors", Trust::datasheet)) return *count;
    reader.transfer(
        "how many multiprocessors the GPU has is not known: products of any size keep all busy");
    return 1;
}

/// Reads the curves of attention; those that a profile lacks are the H200's scaled by the matrix
/// rate.
class AttentionReader {
  public:
    AttentionReader(SpecReader& reader, double gemm_flops_per_s)
        : reader_(reader), scale_(gemm_flops_per_s / kH200Gemm) {}

    /// `needed`: no table of measured times takes its place.
    Interpolated cudnn(const char* direction, const H200Rates& h200, bool needed) {
        return curve(reader_.take_curve(path("cudnn", direction)),
                     needed ? fmt::format("cudnn {}", direction) : "", h200);
    }
    /// PyTorch's.
    Interpolated flash(const char* direction, const H200Rates& h200) {
        return curve(reader_.take_curve_for_others(path("flash", direction)),
                     fmt::format("flash {}", direction), h200);
    }

    /// What is missing so far.
    std::string missing() {
        if (missing_.empty()) return "";
        return fmt::format(
            "attention ({}) reaches the share of the matrix rate that it does on the H200 measured",
            std::exchange(missing_, ""));
    }

  private:
    static std::string path(const char* implementation, const char* direction) {
        return fmt::format("kernels.attention_{}_{}_tflops_by_sequence", implementation, direction);
    }
    /// `name` is said to be missing where there are no points, unless it is "".
    Interpolated curve(std::vector<std::pair<double, double>> points, const std::string& name,
                       const H200Rates& h200) {
        for (auto& [sequence, rate] : points) rate *= kTera;
        if (points.empty()) {
            if (!name.empty()) missing_ += (missing_.empty() ? "" : ", ") + name;
            for (std::size_t i = 0; i < h200.size(); ++i)
                points.emplace_back(kSequences[i], h200[i] * scale_ * kTera);
        }
        return Interpolated(std::move(points));
    }

    SpecReader& reader_;
    double scale_;
    std::string missing_;
};

void resolve_attention(SpecReader& reader, GpuSpec& gpu) {
    const bool measured =
        !gpu.tables[static_cast<std::size_t>(KernelTableId::attention_forward)].empty();
    const auto constant = [&](const char* path, double h200) {
        return measured ? reader.take(path).value_or(h200)
                        : reader.constant(path, h200, Trust::measured);
    };
    gpu.narrow_head_share = constant("kernels.attention_narrow_head_share", 0.8);
    gpu.first_step_extra = constant("kernels.first_step_extra_s", 0.5);
    AttentionReader attention(reader, gpu.gemm_flops_per_s);
    AttentionRates& fused = gpu.fused_attention;
    fused.forward = attention.cudnn("forward", kCudnnForward, !measured);
    fused.backward = attention.cudnn("backward", kCudnnBackward, !measured);
    if (const auto missing = attention.missing(); !missing.empty()) reader.transfer(missing);
    AttentionRates& flash = gpu.flash_attention;
    flash.forward = attention.flash("forward", kFlashForward);
    flash.backward = attention.flash("backward", kFlashBackward);
    if (const auto missing = attention.missing(); !missing.empty())
        reader.transfer_for_others(missing);
}

/// Throws InputError where the numbers of the clock contradict each other.
void check_clock(const SpecReader& reader) {
    const auto number = [&](const char* path) { return *reader.profile().find(path)->value; };
    constexpr const char* kWhatToDo =
        "correct it, or measure again: sluice-calibrate --only clock,power";
    if (const double share = number("kernels.rested_time_share"); share > 1) {
        throw InputError(
            fmt::format("{}: kernels.rested_time_share is {:g}, expected at most 1, since the "
                        "highest clock is not slower than the one at the power limit; {}",
                        reader.profile().file, share, kWhatToDo));
    }
    constexpr std::pair<const char*, const char*> kAscending[] = {
        {"power.idle_w", "power.memory_w"},
        {"power.idle_w", "power.attention_w"},
        {"power.idle_w", "power.gemm_w"},
        {"power.gemm_w", "power.gemm_rested_w"}};
    for (const auto& [less, more] : kAscending) {
        if (number(less) < number(more)) continue;
        throw InputError(fmt::format("{}: {} is {:g}, expected more than {}, which is {:g}; {}",
                                     reader.profile().file, more, number(more), less, number(less),
                                     kWhatToDo));
    }
}

/// Of the product whose power is calibrated, 8,192 rows and columns: three bf16 matrices.
constexpr double kCalibratedBytesPerFlop = 3.0 / 8192;

/// Without one of its numbers the clock is taken to be always the highest.
ClockSpec resolve_clock(SpecReader& reader) {
    constexpr std::array kPaths = {"power.headroom_j",
                                   "power.idle_w",
                                   "power.gemm_w",
                                   "power.gemm_rested_w",
                                   "power.memory_w",
                                   "power.attention_w",
                                   "power.attention_joules_per_tflop",
                                   "power.gemm_rested_joules_per_tflop",
                                   "power.memory_joules_per_gb",
                                   "kernels.rested_time_share"};
    if (!std::all_of(kPaths.begin(), kPaths.end(),
                     [&](const char* path) { return reader.knows(path); }))
        return {};
    check_clock(reader);
    const auto number = [&](const char* path) { return *reader.take(path); };
    ClockSpec clock;
    clock.headroom_j = number("power.headroom_j");
    clock.idle_w = number("power.idle_w");
    clock.limit_w = number("power.gemm_w");
    clock.time_share = number("kernels.rested_time_share");
    // What work takes beside idling.
    const auto beside_idling = [&](const char* joules, const char* watts) {
        return number(joules) * (1 - clock.idle_w / number(watts));
    };
    clock.energy_share = clock.limit_w / (number("power.gemm_rested_w") * clock.time_share);
    clock.joules_per_byte = beside_idling("power.memory_joules_per_gb", "power.memory_w") / kGiga;
    clock.joules_per_flop =
        beside_idling("power.gemm_rested_joules_per_tflop", "power.gemm_rested_w") / kTera -
        clock.joules_per_byte * kCalibratedBytesPerFlop;
    // Attention alone stays below the limit: it was measured at the highest clock.
    clock.joules_per_flop_of_attention =
        beside_idling("power.attention_joules_per_tflop", "power.attention_w") / kTera;
    return clock;
}

}  // namespace

GpuSpec resolve_gpu(SpecReader& reader) {
    GpuSpec gpu;
    gpu.memory_capacity =
        static_cast<Bytes>(reader.required("gpu.memory_capacity_gb", Trust::as_given) * kGiga);
    gpu.context =
        static_cast<Bytes>(reader.constant("gpu.context_gb", 0.878, Trust::as_given) * kGiga);
    gpu.multiprocessors = multiprocessors(reader);
    gpu.memory_bandwidth = memory_gb_per_s(reader) * kGiga;
    gpu.gemm_flops_per_s = gemm_tflops(reader) * kTera;
    const auto overhead = [&](const char* path, double h200) {
        return reader.constant(path, h200, Trust::measured);
    };
    for (int i = 0; i < kKernelTables; ++i) {
        if (auto table = reader.take_kernels(static_cast<KernelTableId>(i)))
            gpu.tables[static_cast<std::size_t>(i)] = *std::move(table);
    }
    gpu.gemm_overhead = overhead("kernels.gemm_overhead_us", 4) / kMega;
    gpu.launch = overhead("kernels.launch_us", 1.09) / kMega;
    resolve_attention(reader, gpu);
    gpu.clock = resolve_clock(reader);
    gpu.eager_launch = reader.constant_for_others("kernels.eager_launch_us", 5) / kMega;
    return gpu;
}

}  // namespace sluice

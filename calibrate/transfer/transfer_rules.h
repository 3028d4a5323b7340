// How much faster is one machine than another by their datasheets, how far off are such ratios, and
// how do they scale each number and curve of a profile?
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/specs/machine/kernel_measurement.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {

/// New over measured.
struct Scales {
    double compute = 1;  ///< of products at the same efficiency and the same number of waves
    double multiprocessors = 1;
    double memory = 1, link = 1, host = 1;
    double power = 0;       ///< of TDP; 0: not known for both
    double efficiency = 1;  ///< of products, by the power limit; part of `compute`
    double new_multiprocessors = 0, old_multiprocessors = 0;
    double new_cores = 0;
    double link_raw_gb_per_s = 0;   ///< of the new machine: no copy is faster
    double host_peak_gb_per_s = 0;  ///< of the new machine: the limit of host memory
    RateRange compute_range, attention_range, memory_range, link_range, both_ways_range, host_range,
        adam_range;
};

/// Throws InputError if one of them lacks a number to scale by: gpu.bf16_dense_tflops,
/// gpu.multiprocessors, gpu.memory_bandwidth_gb_per_s, link.raw_per_direction_gb_per_s,
/// host.memory_bandwidth_gb_per_s. A virtual machine hides the last: for the measured one it is
/// estimated from the fastest measured use of host memory.
Scales scales_between(const MachineProfile& measured, const MachineProfile& datasheet);

/// For the profile's notes: every ratio, and the ranges.
std::string scales_text(const Scales& scales);

/// The scaling of a number or of the rates of a curve.
struct TransferRule {
    double factor = 1;
    RateRange range;   ///< of the result, in addition to its own
    double most = 0;   ///< no rate exceeds it; 0: no such limit
    std::string text;  ///< for the note: "by dense bf16 rate and power"
};

/// Empty for a number of one machine only, which is left out.
std::optional<TransferRule> transfer_rule(std::string_view path, const Scales& scales);

/// The scaled rows of a curve, each the x, then rates, as its path requires: rates by size, by
/// threads (on whole threads, up to the new machine's cores), by sequence; contention by work. The
/// cost of a call of the optimizer stays. `columns`: names, of which "low" and "high" are the range
/// of the second.
std::vector<std::vector<double>> transfer_curve(std::string_view path,
                                                const std::vector<std::string>& columns,
                                                const std::vector<std::vector<double>>& points,
                                                const TransferRule& rule, const Scales& scales);

/// The same shapes with times of the new GPU, as in transfer_profile.h: the trend is scaled part by
/// part, and the residual is read where the new GPU's multiprocessors have as many waves. us_low,
/// us_high and the held-out range are widened; the held-out errors stay those of the measured
/// table.
KernelMeasurement transfer_kernels(const KernelMeasurement& measured, const Scales& scales);

/// The range of the times of such a table.
RateRange range_of_kernels(KernelTableId id, const Scales& scales);

}  // namespace sluice

// By how much is one machine faster than another, as their datasheets say, how far does such a
// ratio miss, and how is each number and curve of a profile scaled by it?
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
    double compute = 1;  ///< of products at the same efficiency and the same waves
    double multiprocessors = 1;
    double memory = 1, link = 1, host = 1;
    double power = 0;       ///< of TDP; 0: not known of both
    double efficiency = 1;  ///< of products, by the power limit; part of `compute`
    double new_multiprocessors = 0, old_multiprocessors = 0;
    double new_cores = 0;
    double link_raw_gb_per_s = 0;   ///< of the new machine: no copy is faster
    double host_peak_gb_per_s = 0;  ///< of the new machine: host memory gives no more
    RateRange compute_range, attention_range, memory_range, link_range, both_ways_range, host_range,
        adam_range;
};

/// Throws InputError where one of both lacks a number that is scaled by: gpu.bf16_dense_tflops,
/// gpu.multiprocessors, gpu.memory_bandwidth_gb_per_s, link.raw_per_direction_gb_per_s,
/// host.memory_bandwidth_gb_per_s. A virtual machine hides the last: of the measured one it is
/// estimated from the fastest use of host memory measured there.
Scales scales_between(const MachineProfile& measured, const MachineProfile& datasheet);

/// For the profile's notes: every ratio, and the ranges.
std::string scales_text(const Scales& scales);

/// The scaling of a number or of the rates of a curve.
struct TransferRule {
    double factor = 1;
    RateRange range;   ///< of the result, beside its own
    double most = 0;   ///< no rate is above; 0: no such limit
    std::string text;  ///< for the note: "by dense bf16 rate and power"
};

/// Nothing for what belongs to one machine only and is left out.
std::optional<TransferRule> transfer_rule(std::string_view path, const Scales& scales);

/// The rows of a curve, each the x, then rates, scaled as its path asks for: rates by size, by
/// threads (on whole threads, up to the new machine's cores), by sequence; contention by work. The
/// cost of a call of the optimizer stays.
/// `columns`: names, where "low" and "high" are the range of the second.
std::vector<std::vector<double>> transfer_curve(std::string_view path,
                                                const std::vector<std::string>& columns,
                                                const std::vector<std::vector<double>>& points,
                                                const TransferRule& rule, const Scales& scales);

/// The same shapes with times of the new GPU, as transfer_profile.h says: trend scaled part by
/// part, residual read where the new GPU's multiprocessors have as many waves. us_low, us_high and
/// the held-out range are widened; the held-out errors stay those of the measured table.
KernelMeasurement transfer_kernels(const KernelMeasurement& measured, const Scales& scales);

/// In which range of its rate the times of such a table are.
RateRange range_of_kernels(KernelTableId id, const Scales& scales);

}  // namespace sluice

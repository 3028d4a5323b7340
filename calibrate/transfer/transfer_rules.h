// How is each number and curve of a profile scaled to another machine?
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/transfer/scales.h"
#include "sim/specs/machine/kernel_measurement.h"

namespace sluice {

/// What becomes of a number or of the rates of a curve.
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

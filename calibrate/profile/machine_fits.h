// What do all tables of a machine say once fitted? What profile and summary are made from.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "calibrate/fit/contention_fit.h"
#include "calibrate/fit/kernel_fit.h"
#include "calibrate/measurement/measurements.h"
#include "calibrate/profile/profile_json.h"
#include "sim/specs/machine/curves.h"

namespace sluice {

/// Products as one line, microseconds = overhead + FLOPs / rate, by least squares of relative
/// errors, without those held out: what other machines are scaled by, and for people.
struct GemmLine {
    double tflops = 0, tflops_low = 0, tflops_high = 0;  ///< 5th to 95th percentile
    double overhead_us = 0, overhead_low = 0, overhead_high = 0;
    double mean_error_percent = 0, worst_error_percent = 0;
    int products = 0;
};

struct MachineFits {
    std::vector<std::pair<KernelTableId, KernelFit>> kernels;  ///< those measured, in order
    std::optional<GemmLine> gemm_line;
    /// By bytes of the optimizer's state a parameter: one that computes more loses less to copies.
    std::map<int, ContentionFit> contention;

    const KernelFit* kernel(KernelTableId id) const;  ///< nullptr: not measured
};

/// Tables that were not measured, or are empty, are left out. Throws InputError as the fits do.
MachineFits fit_machine(const Measurements& measurements);

/// Nothing with fewer than three products.
std::optional<GemmLine> fit_gemm_line(const Measurements& measurements);

/// A call takes so many microseconds and its parameters over the rate of long calls: threads wake
/// up, and all wait for the one that ends last. By least squares of relative errors over the sizes
/// of the table adam_by_size, for each thread count.
struct UpdateCost {
    std::vector<std::vector<double>> points;  ///< threads, us, low, high (5th, 95th percentile)
    Interpolated us_by_threads;
    double usual_parameters = 0;  ///< of the calls of all other measurements

    /// Gparam/s of long calls, from that of usual ones.
    double long_rate(double threads, double usual_rate) const;
};

/// Nothing where it was not measured in two sizes. Throws InputError where a usual call would be
/// shorter than its cost.
std::optional<UpdateCost> fit_update_cost(const Measurements& measurements);

}  // namespace sluice

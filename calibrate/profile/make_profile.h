// What do all tables of a machine say once fitted, and which profile do they make?
#pragma once

#include <map>
#include <optional>
#include <string>
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

/// Another profile of such a machine: what was not measured here is taken from it, each number with
/// its own origin (datasheet peaks, prices, PyTorch's own rates).
struct BaseProfile {
    std::string id;
    std::string text;
};

/// `what` is an id of the library or a path, given with `option`. Throws InputError where it is
/// neither or no profile.
BaseProfile read_base_profile(const std::string& what, const std::string& option);

/// The profile's source of all that was measured: program, date, machine, seconds and file.
std::string calibration_source(const Measurements& measurements);

/// JSON text of the schema "sluice-machine/1". What neither was measured nor stands in `base` is
/// left out, and predictions say what they assume. Same input, same text.
std::string make_profile(const Measurements& measurements, const MachineFits& fits,
                         const std::optional<BaseProfile>& base);

}  // namespace sluice

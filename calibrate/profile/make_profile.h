// Which fits do all tables of a machine give, and which profile do they make?
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

/// All products as one line, microseconds = overhead + FLOPs / rate, by least squares of relative
/// errors, without held-out ones: for scaling to other machines, and for people.
struct GemmLine {
    double tflops = 0, tflops_low = 0, tflops_high = 0;  ///< 5th to 95th percentile
    double overhead_us = 0, overhead_low = 0, overhead_high = 0;
    double mean_error_percent = 0, worst_error_percent = 0;
    int products = 0;
};

struct MachineFits {
    std::vector<std::pair<KernelTableId, KernelFit>> kernels;  ///< measured ones, in order
    std::optional<GemmLine> gemm_line;
    /// By bytes of optimizer state per parameter: an optimizer that computes more loses less to
    /// copies.
    std::map<int, ContentionFit> contention;
};

/// Tables that were not measured, or are empty, are left out. Throws InputError like the fits.
MachineFits fit_machine(const Measurements& measurements);

/// Empty with fewer than three products.
std::optional<GemmLine> fit_gemm_line(const Measurements& measurements);

/// The time of a call is a fixed number of microseconds plus its parameters over the rate of long
/// calls: threads wake up, and all wait for the one that ends last. By least squares of relative
/// errors over the sizes of the table adam_by_size, for each thread count.
struct UpdateCost {
    std::vector<std::vector<double>> points;  ///< threads, us, low, high (5th, 95th percentile)
    Interpolated us_by_threads;
    double usual_parameters = 0;  ///< of the calls of all other measurements

    /// Gparam/s of long calls, from the rate of usual ones.
    double long_rate(double threads, double usual_rate) const;
};

/// Empty if fewer than two sizes were measured. Throws InputError if a usual call would be shorter
/// than its fixed cost.
std::optional<UpdateCost> fit_update_cost(const Measurements& measurements);

/// Another profile of such a machine: numbers that were not measured here are taken from it, each
/// with its own origin (datasheet peaks, the price of the GPU, PyTorch's own rates). Rents are not.
struct BaseProfile {
    std::string id;
    std::string text;
};

/// `what` is an id of the library or a path, given with `option`. Throws InputError if it is
/// neither, or no profile.
BaseProfile read_base_profile(const std::string& what, const std::string& option);

/// The profile's source of all measured numbers: program, date, machine, seconds and file.
std::string calibration_source(const Measurements& measurements);

/// JSON text of the schema "sluice-machine/1". Numbers that were neither measured nor are in `base`
/// are left out, and predictions state assumptions for them. Same input, same text.
std::string make_profile(const Measurements& measurements, const MachineFits& fits,
                         const std::optional<BaseProfile>& base);

}  // namespace sluice

// What does one call of the optimizer cost beside its parameters?
#pragma once

#include <optional>

#include "calibrate/measurement/measurements.h"
#include "calibrate/profile/profile_json.h"
#include "sim/specs/machine/curves.h"

namespace sluice {

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

// How wrong are predictions of what was measured?
#pragma once

#include <span>

namespace sluice {

/// Predicted over measured, less 1, in percent.
struct FitError {
    int shapes = 0;            ///< compared
    double mean_percent = 0;   ///< of the errors without sign
    double worst_percent = 0;  ///< without sign
    double low_percent = 0;    ///< 5th percentile
    double high_percent = 0;   ///< 95th percentile
};

/// Precondition: as many predicted as measured, none measured is 0. All 0 where there is none.
FitError fit_error(std::span<const double> predicted, std::span<const double> measured);

}  // namespace sluice

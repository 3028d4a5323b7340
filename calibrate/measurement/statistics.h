// What do repeated measurements of one thing say: how much, and how far apart?
#pragma once

#include <span>
#include <vector>

#include "sim/specs/machine/kernel_measurement.h"

namespace sluice {

/// Median and 5th to 95th percentile of repeated measurements, in their unit.
struct Sample {
    double median = 0;
    double low = 0;   ///< 5th percentile
    double high = 0;  ///< 95th percentile
    int count = 0;

    /// Range over median; 0 where the median is 0.
    double spread() const { return median == 0 ? 0 : (high - low) / median; }
};

/// Linear between order statistics (Hyndman and Fan 1996, type 7). Precondition: not empty, 0 <=
/// share <= 1.
double quantile(std::span<const double> values, double share);

/// Precondition: not empty.
Sample summarize(std::span<const double> values);

/// A sample of rates from one of times: amount / time, low and high exchanged.
Sample rate_of(double amount, const Sample& seconds);

/// Errors of kernels or rates, as a profile keeps them.
using FitError = HeldOutError;

/// Precondition: as many predicted as measured, none measured is 0. All 0 where there is none.
FitError fit_error(std::span<const double> predicted, std::span<const double> measured);

}  // namespace sluice

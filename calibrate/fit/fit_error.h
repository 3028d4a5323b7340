// How wrong are predictions of what was measured?
#pragma once

#include <span>

#include "sim/specs/machine/kernel_measurement.h"

namespace sluice {

/// Errors of kernels or rates, as a profile keeps them.
using FitError = HeldOutError;

/// Precondition: as many predicted as measured, none measured is 0. All 0 where there is none.
FitError fit_error(std::span<const double> predicted, std::span<const double> measured);

}  // namespace sluice

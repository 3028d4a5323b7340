// How long would measured kernels take on a GPU that cannot be measured?
#pragma once

#include "calibrate/transfer/scales.h"
#include "sim/specs/machine/kernel_measurement.h"

namespace sluice {

/// The same shapes with times of the new GPU, as transfer_profile.h says: trend scaled part by
/// part, residual read where the new GPU's multiprocessors have as many waves. us_low, us_high and
/// the held-out range are widened; the held-out errors stay those of the measured table.
KernelMeasurement transfer_kernels(const KernelMeasurement& measured, const Scales& scales);

/// In which range of its rate the times of such a table are.
RateRange range_of_kernels(KernelTableId id, const Scales& scales);

}  // namespace sluice

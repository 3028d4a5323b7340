// What memory will a run take, and is there as much?
#pragma once

#include "engine/device/device.h"
#include "sim/plan/step.h"

namespace sluice {

/// Activations in fp32: every device buffer has twice the planned bytes.
PlannedStep with_double_device_memory(PlannedStep plan);

/// Prints the plan's memory by kind, before anything is allocated.
void print_planned_memory(const AskedStep& asked, const Fit& fit, const DeviceFacts& device,
                          DType activations);

/// Throws InputError, saying by how much, where the plan does not fit. `hint` is appended.
void refuse_misfit(const PlannedStep& plan, const std::string& hint);

}  // namespace sluice

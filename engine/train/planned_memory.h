// What memory will a run take, and is there as much?
#pragma once

#include "engine/device/device.h"
#include "sim/plan/step_report.h"

namespace sluice {

/// Activations in fp32: every device buffer has twice the planned bytes.
void double_device_memory(StepReport& report);

/// Prints the plan's memory by kind, before anything is allocated.
void print_planned_memory(const StepReport& report, const DeviceFacts& device, DType activations);

/// Throws InputError, saying by how much, where the plan does not fit. `hint` is appended.
void refuse_misfit(const StepReport& report, const std::string& hint);

}  // namespace sluice

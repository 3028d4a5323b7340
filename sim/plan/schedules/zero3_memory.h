// What does ZeRO-3 with parameters and optimizer on the host keep there, and why is it 26 bytes a
// parameter?
#pragma once

#include <vector>

#include "sim/plan/plan_builder.h"
#include "sim/plan/schedules/zero3_modules.h"

namespace sluice {

// CPU Adam's traffic of a parameter: fp32 master and both moments read and written, gradient read
// (csrc/includes/cpu_adam.h).
inline constexpr double kZero3AdamTraffic = 7 * kFp32;
// An fp32 master becomes a bf16 parameter: HostWork::copy counts a byte read and written as one.
inline constexpr double kZero3CopyBack = (kFp32 + kBf16) / 2.0;
inline constexpr const char* kZero3AdamAssumption =
    "DeepSpeed's CPU Adam on fp32 masters (28 bytes a parameter) and their copy to bf16 move host "
    "memory as fast as Adam on bf16 masters and a plain copy do";

inline constexpr double kZero3SubGroupElements = 1e9;  ///< sub_group_size
/// As asked, or the schedule's own.
inline double sub_group_elements(const TrainingSpec& training, double own) {
    const auto asked = static_cast<double>(training.sub_group_elements);
    return asked > 0 ? asked : own;
}

/// Elements that the optimizer updates at once: tensors in the model's order, cut after the one
/// that completes sub_group_size elements.
std::vector<double> zero3_sub_groups(const ModelSpec& model,
                                     double sub_group_size = kZero3SubGroupElements);

/// Parameters of at most stage3_param_persistence_threshold elements, which stay on the device.
void declare_parameters_that_stay(const ModelSpec& model, const Zero3Modules& modules,
                                  PlanBuilder& build);

/// Bytes of the system's and the driver's tables for a pinned byte, outside the process: as memory
/// in use grew when 5.1 GB were pinned on the H200 machine.
inline constexpr double kTablesOfPinned = 0.0157;

/// Returns the bytes of it that the system uses outside the process.
double declare_zero3_host_memory(const ModelSpec& model, const MachineSpec& machine,
                                 const std::vector<double>& sub_groups, PlanBuilder& build);

/// Host memory of loading, first step, steady state and saving.
void declare_zero3_host_moments(const ModelSpec& model, double outside_process, PlanBuilder& build);

}  // namespace sluice

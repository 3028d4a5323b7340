// What does ZeRO-3 with parameters and optimizer on the host keep there, and why is it 26 bytes a
// parameter?
#pragma once

#include <vector>

#include "sim/plan/plan_builder.h"

namespace sluice {

/// Elements that the optimizer updates at once: tensors in the model's order, cut after the one
/// that completes sub_group_size (1e9) elements.
std::vector<double> zero3_sub_groups(const ModelSpec& model);

/// Returns the bytes of it that the system uses outside the process.
double declare_zero3_host_memory(const ModelSpec& model, const MachineSpec& machine,
                                 PlanBuilder& build);

/// Host memory of loading, first step, steady state and saving.
void declare_zero3_host_moments(const ModelSpec& model, double outside_process, PlanBuilder& build);

}  // namespace sluice

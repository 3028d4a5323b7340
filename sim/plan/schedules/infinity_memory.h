// What does ZeRO-Infinity keep on storage, what in host memory, and through which buffers does it
// pass?
#pragma once

#include <vector>

#include "sim/plan/plan_builder.h"
#include "sim/plan/schedules/zero3_fetches.h"
#include "sim/plan/schedules/zero3_modules.h"

namespace sluice {

/// buffer_count of offload_optimizer: master, moments and gradient of three sub-groups.
inline constexpr std::size_t kOptimizerBuffers = 12;

/// How a model is cut for storage. Counts are of elements.
struct InfinityLayout {
    /// `modules` must outlive it.
    InfinityLayout(const ModelSpec& model, const Zero3Modules& modules, double sub_group_size);
    ParameterFetches fetches(int buffers) const;

    const Zero3Modules* modules;
    std::vector<double> sub_groups;  ///< that the optimizer updates at once
    double largest_sub_group = 0;
    std::size_t sub_groups_on_host = 0;  ///< the first, within max_in_cpu: their parameters stay
    std::vector<bool> on_storage;        ///< by parameter
    double elements_on_storage = 0;      ///< parameters; states are there all
    double largest_tensor = 0;           ///< buffer_size of offload_param
    int parameter_buffers = 0;           ///< its buffer_count
};

/// Host and storage memory of a step.
void declare_infinity_memory(const ModelSpec& model, const MachineSpec& machine,
                             const InfinityLayout& layout, PlanBuilder& build);
/// Host memory of loading, first step, steady state and saving.
void declare_infinity_moments(const InfinityLayout& layout, PlanBuilder& build);

}  // namespace sluice

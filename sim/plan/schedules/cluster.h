// What the two kinds of data-parallel training on many GPUs share: who has which part, collectives
// as operations, the optimizer on the GPU. One GPU is planned; all do the same at the same time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/machine/collective_time.h"
#include "sim/plan/plan_builder.h"

namespace sluice {

/// The GPUs of a training spec on a machine.
GpuGroup gpu_group(const MachineSpec& machine, const TrainingSpec& training);

/// A collective of `size` bytes of the whole array, in `messages` calls.
Operation collective_operation(Collective collective, double size, std::int64_t gpus,
                               std::vector<BufferId> uses = {});

/// The processes of a node on its host, and what they need at each moment.
void declare_cluster_host(const MachineSpec& machine, const GpuGroup& group, PlanBuilder& build);
void declare_cluster_host_moments(PlanBuilder& build);
/// Sentences on which every plan of a cluster rests.
void say_cluster_assumptions(const MachineSpec& machine, const GpuGroup& group, PlanBuilder& build);

/// PyTorch FSDP2 (ZeRO-3): parameters, gradients and states sharded over all GPUs.
StepPlan plan_sharded(const ModelSpec& model, const MachineSpec& machine,
                      const TrainingSpec& training);
/// Data parallel: every GPU has all of it.
StepPlan plan_replicated(const ModelSpec& model, const MachineSpec& machine,
                         const TrainingSpec& training);

}  // namespace sluice

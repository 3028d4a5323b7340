// The schedules: each turns model, machine and settings into a plan, and stands in a file of its
// own.
#pragma once

#include "sim/plan/schedules/streamed_memory.h"
#include "sim/plan/step_plan.h"

namespace sluice {

/// A plan and which of its buffers are what: what the engine executes.
struct StreamedPlan {
    StepPlan step;
    StreamedBuffers buffers;
};

/// Ours: weights streamed twice a step, one recompute, gradients leave and are applied while
/// backward goes on. Precondition: as plan_step().
StreamedPlan plan_streamed(const ModelSpec& model, const MachineSpec& machine,
                           const TrainingSpec& training);

/// MegaTrain's at its public commit 919520f: three forwards, weights streamed three times, a serial
/// optimizer.
StepPlan plan_megatrain(const ModelSpec& model, const MachineSpec& machine,
                        const TrainingSpec& training);

/// DeepSpeed 0.19.8, ZeRO-3 with parameters and optimizer in pinned host memory, on one GPU.
StepPlan plan_zero3_offload(const ModelSpec& model, const MachineSpec& machine,
                            const TrainingSpec& training);

/// DeepSpeed after 0.19.5 (commit edaa722), ZeRO-3 with parameters and optimizer states on storage.
/// Throws InputError where the machine's storage is not known.
StepPlan plan_zero_infinity(const ModelSpec& model, const MachineSpec& machine,
                            const TrainingSpec& training);

/// DeepSpeed after 0.19.5 (commit edaa722), SuperOffload: parameters on the GPU, CPU Adam
/// while backward goes on.
StepPlan plan_superoffload(const ModelSpec& model, const MachineSpec& machine,
                           const TrainingSpec& training);

/// PyTorch FSDP2 with CPUOffloadPolicy on one GPU: fp32 parameters and AdamW on the host.
StepPlan plan_fsdp_offload(const ModelSpec& model, const MachineSpec& machine,
                           const TrainingSpec& training);

/// Accelerate's CPU offload hooks on one GPU, with gradients brought to the host.
StepPlan plan_accelerate_offload(const ModelSpec& model, const MachineSpec& machine,
                                 const TrainingSpec& training);

/// Data-parallel or fully sharded training in device memory, of one of many GPUs. Throws InputError
/// where the machine says too little of how they reach each other.
StepPlan plan_cluster(const ModelSpec& model, const MachineSpec& machine,
                      const TrainingSpec& training);

/// A plain PyTorch loop with everything in device memory, in bf16.
StepPlan plan_resident(const ModelSpec& model, const MachineSpec& machine,
                       const TrainingSpec& training);

}  // namespace sluice

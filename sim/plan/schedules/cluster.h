// What the two kinds of data-parallel training on many GPUs share: who has which part, collectives
// as operations, the optimizer on the GPU. One GPU is planned; all do the same at the same time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/plan/plan_builder.h"
#include "sim/plan/schedules/plain_model.h"
#include "sim/specs/machine/collective_time.h"

namespace sluice {

/// A collective of `size` bytes of the whole array, in `messages` calls.
Operation collective_operation(Collective collective, double size, std::int64_t gpus,
                               std::vector<BufferId> uses = {});

/// A step of one of the GPUs: micro-batch after micro-batch, then the optimizer.
class ClusterStep {
  public:
    virtual ~ClusterStep() = default;
    ClusterStep(const ClusterStep&) = delete;
    ClusterStep& operator=(const ClusterStep&) = delete;
    StepPlan plan();

  protected:
    /// All must outlive it.
    ClusterStep(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training);

    using Kind = MemoryKind;
    virtual void declare() = 0;  ///< kernels and memory on the device
    virtual void forward() = 0;
    virtual void backward() = 0;
    virtual void optimize() = 0;
    bool is_first() const { return micro_batch_ == 0; }
    bool is_last() const { return micro_batch_ + 1 == training_.micro_batches(); }

    const ModelSpec& model_;
    const TrainingSpec& training_;
    const GpuGroup group_;
    const int layers_;
    PlanBuilder build_;

  private:
    void declare_host();
    void declare_host_moments();
    void say_assumptions();

    const MachineSpec& machine_;
    const TrainingSpec pass_;  ///< of one micro-batch
    std::int64_t micro_batch_ = 0;

  protected:
    PlainModel network_;
    OperationId last_ = -1;     ///< of the compute lane
    OperationId reduced_ = -1;  ///< the last reduction of gradients
};

/// PyTorch FSDP2 (ZeRO-3): parameters, gradients and states sharded over all GPUs.
StepPlan plan_sharded(const ModelSpec& model, const MachineSpec& machine,
                      const TrainingSpec& training);
/// Data parallel: every GPU has all of it.
StepPlan plan_replicated(const ModelSpec& model, const MachineSpec& machine,
                         const TrainingSpec& training);

}  // namespace sluice

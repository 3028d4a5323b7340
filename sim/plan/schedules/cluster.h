// Which code do both kinds of data-parallel training on many GPUs share? Parts of the states,
// collectives as operations, the optimizer on the GPU. One GPU is planned; all do the same at the
// same time.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/plan/schedules/pytorch.h"
#include "sim/specs/machine/collective_time.h"

namespace sluice {

/// The GPUs divide among them: parameters, gradients and states; states only; nothing; gradients
/// and states.
enum class Sharding : std::uint8_t { full, states, none, gradients };
/// Options of cluster alone.
struct ClusterOptions {
    Sharding sharding = Sharding::full;
};

/// Whether the rate between the GPUs of a node is known.
bool joins_gpus(const MachineSpec& machine);
/// Throws InputError if the machine lacks what that many GPUs need.
void check_machine_of_gpus(const MachineSpec& machine, std::int64_t gpus);

/// Throws InputError if more GPUs than share a host are asked of a system that keeps states there.
void check_one_host(const MachineSpec& machine, std::int64_t gpus);

/// A collective over an array of `size` bytes, in `messages` calls.
Operation collective_operation(Collective collective, double size, std::int64_t gpus,
                               BufferUses uses = {});

class ClusterStep : public PyTorchStep {
  protected:
    /// All must outlive it.
    ClusterStep(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training);

    /// The processes of a node.
    void declare() override;
    void finish() override;

    const GpuGroup group_;
    OperationId last_ = -1;     ///< of the compute lane
    OperationId reduced_ = -1;  ///< the last reduction of gradients
};

/// PyTorch FSDP2 (ZeRO-3): parameters, gradients and states sharded over all GPUs.
StepPlan plan_sharded(const ModelSpec& model, const MachineSpec& machine,
                      const TrainingSpec& training);

}  // namespace sluice

// Which buffers does MegaTrain keep, as PyTorch allocates them: pinned tensors rounded up to powers
// of two, gradients released after the step?
#pragma once

#include <vector>

#include "sim/plan/plan_builder.h"

namespace sluice {

/// Differences of MegaTrain-Plus, each with those before it: nothing; weights are gathered in a
/// pinned buffer before each copy; all layers' inputs are kept; templates are views of buffers.
enum class Fork : std::uint8_t { none, flatten, store, views };
/// Options of megatrain alone.
struct MegaTrainOptions {
    std::int64_t checkpoint_interval = 4;  ///< layers between checkpoints
    Fork fork = Fork::none;
    bool flash_loss = false;  ///< flash-attn's cross-entropy
};

inline constexpr std::int64_t kMegaTrainLossPositions = 128;  ///< of a sequence, in one piece
inline constexpr int kMegaTrainBuffers = 2;                   ///< for weights, and layer templates
inline constexpr int kMostMegaTrainSlots = 3;  ///< num_buffers of its fork's defaults
/// Layers between inputs that are kept.
inline std::int64_t megatrain_interval(const TrainingSpec& training) {
    const MegaTrainOptions& own = training.own.of<MegaTrainOptions>();
    return own.fork >= Fork::store ? 1 : own.checkpoint_interval;
}
inline Fork fork_of(const TrainingSpec& training) {
    return training.own.of<MegaTrainOptions>().fork;
}
/// Buffers for weights on the device.
inline int megatrain_slots(const TrainingSpec& training) {
    return fork_of(training) == Fork::views ? kMostMegaTrainSlots : kMegaTrainBuffers;
}

/// Buffers of one forward and backward that operations of MegaTrain's schedule use.
struct MegaTrainBuffers {
    std::vector<BufferId> checkpoints;  ///< one per interval
    BufferId hidden = 0;                ///< the hidden state, then its gradient
    BufferId recomputed = 0;            ///< the restored inputs of a block
    BufferId table_gradient =
        -1;  ///< tied models only: the loss's gradient, until the embedding's is added
    BufferId embedding_gradient = 0;
    BufferId loss_logits = 0;
    BufferId loss_norms = 0;
};

/// Adds the buffers of the whole step, and the gradients on the host, which are returned.
/// `training` describes one forward and backward, here and below.
BufferId declare_megatrain_memory(const ModelSpec& model, const MachineSpec& machine,
                                  const TrainingSpec& training, PlanBuilder& build);
MegaTrainBuffers declare_megatrain_pass(const ModelSpec& model, const TrainingSpec& training,
                                        PlanBuilder& build);

/// Bytes per token of a layer's temporaries.
double megatrain_forward_temporaries(const ModelSpec& model);
double megatrain_backward_temporaries(const ModelSpec& model);
/// The part of these that autograd keeps from forward to backward.
double megatrain_saved(const ModelSpec& model);

/// Host memory of loading, first step, steady state and saving.
void declare_megatrain_host_moments(const ModelSpec& model, PlanBuilder& build);

std::int64_t megatrain_slabs(const TrainingSpec& training);

}  // namespace sluice

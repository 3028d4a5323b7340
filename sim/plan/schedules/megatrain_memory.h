// What does MegaTrain keep where? As PyTorch allocates: pinned tensors rounded up to powers of two,
// gradients released after the step.
#pragma once

#include <vector>

#include "sim/plan/plan_builder.h"

namespace sluice {

inline constexpr std::int64_t kMegaTrainLossPositions = 128;  ///< of a sequence, in one piece
inline constexpr int kMegaTrainBuffers = 2;                   ///< for weights, and layer templates

/// The buffers that operations of MegaTrain's schedule name; the others stand for the whole step.
/// All but `gradients` are of one forward and backward.
struct MegaTrainBuffers {
    std::vector<BufferId> checkpoints;  ///< one an interval
    BufferId hidden = 0;                ///< the hidden state, then its gradient
    BufferId loss_logits = 0;
    BufferId loss_norms = 0;
    BufferId recomputed = 0;       ///< the restored inputs of a block
    BufferId table_gradient = -1;  ///< tied models only: the loss's, until the embedding's is added
    BufferId embedding_gradient = 0;
    BufferId gradients = 0;  ///< on the host
};

/// `training` is of one forward and backward, here and below.
MegaTrainBuffers declare_megatrain_memory(const ModelSpec& model, const MachineSpec& machine,
                                          const TrainingSpec& training, PlanBuilder& build);

/// The buffers of another forward and backward.
void declare_megatrain_pass(const ModelSpec& model, const MachineSpec& machine,
                            const TrainingSpec& training, PlanBuilder& build,
                            MegaTrainBuffers& buffers);

/// PyTorch frees a layer's temporaries when the layer is done, so each run has its own.
BufferId megatrain_forward_temporaries(const ModelSpec& model, const TrainingSpec& training,
                                       PlanBuilder& build);
BufferId megatrain_backward_temporaries(const ModelSpec& model, const TrainingSpec& training,
                                        PlanBuilder& build);

/// Host memory of loading, first step, steady state and saving.
void declare_megatrain_host_moments(const ModelSpec& model, PlanBuilder& build);

/// Pinned layer gradients on the host.
std::int64_t megatrain_slabs(const TrainingSpec& training);

}  // namespace sluice

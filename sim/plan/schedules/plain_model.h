// A plain PyTorch model, one operation after another on the GPU: its kernels, and what autograd
// keeps of it. Schedules of PyTorch's own ways to train add where parameters and gradients are.
#pragma once

#include <vector>

#include "sim/plan/plan_builder.h"

namespace sluice {

/// What one GPU does in one pass: its micro-batch as the batch of a training spec of its own.
TrainingSpec training_of_pass(const TrainingSpec& training);

/// As torch.nn has it: RMSNorm in one kernel, flash attention, all logits at once and their
/// cross-entropy in fp32. With Recompute::full each layer is in torch.utils.checkpoint.
class PlainModel {
  public:
    /// `build` and the rest must outlive it; `build` was made with KernelStyle::plain.
    PlainModel(const ModelSpec& model, const TrainingSpec& training, PlanBuilder& build);

    /// Another pass of the model after the backward of the one before, with new buffers.
    void next_pass();

    /// Work of the compute lane, in the order in which a step adds it. The first layer's forward
    /// looks the tokens' embeddings up.
    Operation forward(int layer);
    Operation loss();
    Operation loss_backward();  ///< holds the head's gradient too, as long as it runs
    Operation backward(int layer);
    Operation embedding_backward();

  private:
    struct LayerKernels {
        std::int32_t forward, backward;
    };
    const LayerKernels& kernels(int layer) const;
    void declare_kernels();
    void declare_buffers();
    bool keeps_all() const { return training_.recompute == Recompute::none; }
    double bytes(double per_token) const;

    const ModelSpec& model_;
    const TrainingSpec& training_;
    PlanBuilder& build_;
    std::vector<LayerKernels> kinds_;
    std::int32_t embedding_ = 0, embedding_backward_ = 0, loss_ = 0, loss_backward_ = 0;
    std::vector<BufferId> inputs_;  ///< of each layer
    std::vector<BufferId> saved_;   ///< of each layer, where nothing is recomputed
    BufferId last_ = 0;             ///< the last layer's output, and that normed
    BufferId gradient_ = 0;         ///< of the hidden state
};

}  // namespace sluice

// How is the loss computed, forward and backward?
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/layers/gradient_target.h"
#include "engine/layers/workspace.h"

namespace sluice {

/// The head's weights, bf16: output projection (vocabulary, hidden) and final norm (hidden).
struct HeadWeights {
    void *projection = nullptr, *norm = nullptr;
};

/// The loss: final norm, logits of a chunk of tokens at a time, cross-entropy, and all their
/// gradients at once; logits never exist whole. The head on the device: output projection
/// (vocabulary, hidden), then final norm (hidden), bf16. Tied models have the embedding in place of
/// a projection.
class HeadLoss {
  public:
    HeadLoss(const ModelSpec& model, std::int64_t chunk_tokens);

    std::int64_t elements() const { return norm_.offset + norm_.elements(); }
    const TensorPlace& projection() const { return projection_; }
    const TensorPlace& norm() const { return norm_; }
    /// In a buffer with the layout of projection() and norm().
    HeadWeights weights_in(void* head) const {
        return {matrix_at(head, DType::bf16, projection_).data,
                vector_at(head, DType::bf16, norm_).data};
    }

    /// Adds scale x the sum of the tokens' losses to *loss, overwrites `hidden` (tokens, hidden),
    /// the last layer's output, by its gradient, and writes or adds the head's gradients.
    /// `workspace` holds a chunk's logits and normed hidden states. Logits are in
    /// bf16; the products of the gradients are in FP8 if there is memory for their `operands`.
    void run(Kernels& kernels, HeadWeights weights, Matrix hidden, const std::int32_t* targets,
             float scale, double* loss, GradientTarget target, Workspace workspace,
             Workspace operands = {}) const;

  private:
    std::int64_t chunk_;
    float epsilon_;
    TensorPlace projection_, norm_;
};

}  // namespace sluice

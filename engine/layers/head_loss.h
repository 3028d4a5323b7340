// The loss: final norm, logits of a chunk of tokens at a time, cross-entropy, and all their
// gradients at once. Logits never exist whole.
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/layers/layer_layout.h"
#include "engine/layers/transformer_layer.h"
#include "engine/layers/workspace.h"
#include "sim/specs/model/model_spec.h"

namespace sluice {

/// The head on the device: output projection (vocabulary, hidden), then final norm (hidden), bf16.
/// Tied models have the embedding in place of a projection.
class HeadLoss {
  public:
    HeadLoss(const ModelSpec& model, std::int64_t chunk_tokens);

    std::int64_t elements() const { return norm_.offset + norm_.elements(); }
    const TensorPlace& projection() const { return projection_; }
    const TensorPlace& norm() const { return norm_; }

    /// Adds scale x the sum of the tokens' losses to *loss, overwrites `hidden` (tokens, hidden),
    /// the last layer's output, by its gradient, and writes or adds the head's gradients.
    /// `workspace` holds a chunk's logits and normed hidden states.
    void run(Kernels& kernels, void* head, Matrix hidden, const std::int32_t* targets, float scale,
             double* loss, GradientTarget target, Workspace workspace) const;

  private:
    std::int64_t chunk_;
    float epsilon_;
    TensorPlace projection_, norm_;
};

}  // namespace sluice

// How many bytes of activations does a layer hold, and keep for backward?
#pragma once

#include "sim/specs/model/model_spec.h"

namespace sluice {

/// Bytes that one token of activation occupies, by what a schedule allocates. The feed-forward's
/// tensors may exist for a chunk of the tokens at a time; the attention half needs whole sequences.
struct ActivationBytes {
    /// The layer's input, (hidden) bf16: the checkpoint.
    double input = 0;
    /// Output (heads x value_dim) bf16 and softmax statistics (heads) fp32.
    double attention_output = 0;

    /// What Recompute::none keeps beyond the input: of the attention half (the attention output and
    /// the residual after it among that), of the feed-forward half, and both.
    double attention_kept = 0;
    double feed_forward_kept = 0;
    double kept_for_backward = 0;

    /// The state between the halves.
    double residual = 0;
    /// Alive at once in each half of forward; the feed-forward's beyond the residual.
    double forward_attention = 0;
    double forward_feed_forward = 0;
    /// Alive in recompute and backward. What was kept is among it: whoever keeps `attention_kept`
    /// or `feed_forward_kept` needs that much less. The attention half's tensors live all the
    /// while; beside them first the feed-forward's, then `attention_gradients`.
    double backward_attention = 0;
    double backward_feed_forward = 0;
    /// Gradients of the attention's output and of q, k and v, and the workspace of its backward.
    double attention_gradients = 0;
};

ActivationBytes activation_bytes_per_token(const ModelSpec& model, const LayerSpec& layer);

}  // namespace sluice

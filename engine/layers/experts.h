// How is the feed-forward of a layer with experts computed, forward and backward?
//
//   l = n Wr^T    each token goes to the experts e with the largest l_e, with weights w_e
//   y = r + sum of (w_e swiglu(n Wgu_e^T)) Wd_e^T over these
//
// The weight is applied before the last product, so that its gradient needs no output of experts.
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/layers/gradient_target.h"
#include "engine/layers/layer_form.h"
#include "engine/layers/workspace.h"

namespace sluice {

/// Some tokens of the layer.
struct ExpertTokens {
    Matrix residual, normed;  ///< (tokens, hidden)
    /// (copies, 2 x intermediate); absent: backward computes it again.
    Matrix gate_up;
    EightBits codes;            ///< in place of gate and up, for backward
    double* busiest = nullptr;  ///< see Kernels::route()
};

class Experts {
  public:
    Experts() = default;
    /// `activations` is the type of hidden states. Without experts in the layer it is not present.
    Experts(const FeedForwardSpec& feed_forward, const LayerLayout& layout, DType activations);
    bool present() const { return spec_.experts > 0; }
    std::int64_t of_token() const { return spec_.experts_per_token; }

    /// y = residual + the experts of `normed`. Writes gate and up, or their codes, where they are
    /// present.
    void forward(Kernels& kernels, const LayerWeights& weights, const ExpertTokens& of, Matrix y,
                 Workspace workspace) const;
    /// Overwrites `normed` by its gradient, given dy, and writes or adds gradients of weights.
    /// `add`: `target` has those of other tokens.
    void backward(Kernels& kernels, const LayerWeights& weights, GradientTarget target, bool add,
                  const ExpertTokens& of, Matrix dy, Workspace workspace) const;

  private:
    struct Routed;
    /// The choice for these tokens, with its memory taken from `workspace`.
    Routed route(Kernels& kernels, const LayerWeights& weights, const ExpertTokens& of,
                 Workspace& workspace) const;
    Matrix weight(const LayerWeights& weights, const TensorPlace& place) const {
        return matrix_at(weights.block, DType::bf16, place);
    }

    FeedForwardSpec spec_;
    TensorPlace router_, gate_up_, down_;
    DType type_ = DType::bf16;
};

}  // namespace sluice

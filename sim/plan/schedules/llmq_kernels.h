// Which kernels does a micro-batch of LLMQ run? Products add nothing to their results: norms add
// the residual, and later micro-batches' weight gradients are added in bf16.
//
// In FP8, weights are cast once a step. Inputs are cast in forward and kept as codes, gradients are
// cast in backward; norms, activation and rotary embedding find the largest number on their way.
// For backward, weights, inputs and gradients are transposed as codes.
#pragma once

#include "sim/specs/model/layer_kernels.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

class LlmqKernels {
  public:
    /// Both must outlive it; the batch of `pass` is one micro-batch.
    LlmqKernels(const ModelSpec& model, const TrainingSpec& pass);

    /// Empty in bf16.
    KernelList cast_weights(const LayerSpec& layer) const;
    KernelList forward(const LayerSpec& layer) const;
    /// With what is recomputed; `sums`: gradients are added to those of earlier micro-batches.
    KernelList backward(const LayerSpec& layer, bool sums) const;
    /// Last norm, logits and loss, forward and backward.
    KernelList head(bool sums) const;

  private:
    KernelList recomputed(const LayerSpec& layer) const;
    void cast(KernelList& out, double bytes) const;
    void multiply(KernelList& out, const Kernel& product) const;

    const ModelSpec& model_;
    const TrainingSpec& pass_;
    const TokenBlock block_;
    const bool fp8_;
};

}  // namespace sluice

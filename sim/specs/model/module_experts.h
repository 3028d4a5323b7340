// Which kernels do experts run that PyTorch computes one after another, each with the rows of its
// tokens? As roundpipe/models/qwen3_moe.py and gpt_oss.py of RoundPipe do, and transformers 4.57.
#pragma once

#include "sim/specs/model/adapter_shape.h"
#include "sim/specs/model/kernel.h"
#include "sim/specs/model/model_spec.h"

namespace sluice {

/// transformers keeps the experts' weights in one tensor where they have biases (gpt_oss), else in
/// three linear layers an expert.
bool experts_are_stacked(const FeedForwardSpec& feed_forward);

/// The experts of a layer for a block of tokens, spread evenly over those that are busy; with the
/// router, without shared experts.
struct ModuleExperts {
    const FeedForwardSpec& spec;
    std::int64_t hidden = 0;
    std::int64_t tokens = 0;
    AdapterShape adapters = {};
    std::int64_t busy = 0;  ///< experts that have tokens
};

void append_experts_forward(KernelList& kernels, const ModuleExperts& experts);
/// Autograd's kernels: the gradient of an indexed tensor is a whole tensor of zeros, in which the
/// indexed part is filled in; each is added to the sum of those before.
void append_experts_backward(KernelList& kernels, const ModuleExperts& experts);

}  // namespace sluice

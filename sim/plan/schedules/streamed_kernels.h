// Which kernels do the passes of the streamed schedule run in a layer?
#pragma once

#include <vector>

#include "sim/plan/plan_builder.h"

namespace sluice {

/// Kernel lists of one kind of layer, as indices of StepProgram::kernel_lists.
struct StreamedKernels {
    std::int32_t forward, recompute, backward;
    std::int32_t recompute_nothing;  ///< in place of `recompute` in layers that keep everything
    std::int32_t finish_gradients;   ///< after the last micro-batch
};

/// Those of the head: the loss of a micro-batch, and after the last one.
struct StreamedHeadKernels {
    std::vector<std::int32_t> loss;  ///< a list a chunk, in their order; all but the last are one
    std::int32_t finish_gradients = 0;
};
StreamedHeadKernels declare_head_kernels(const ModelSpec& model, const TrainingSpec& training,
                                         PlanBuilder& build);

/// For each kind of layer of the model.
std::vector<StreamedKernels> declare_streamed_kernels(const ModelSpec& model,
                                                      const TrainingSpec& training,
                                                      PlanBuilder& build);

}  // namespace sluice

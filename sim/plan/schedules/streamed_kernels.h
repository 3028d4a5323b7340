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

/// Once a layer's or the head's gradients are complete: sums in fp32 are rounded, the norm reads
/// the result. -1: nothing to do.
std::int32_t finish_gradients(double parameters, bool summed, PlanBuilder& build);

/// For each kind of layer of the model.
std::vector<StreamedKernels> declare_streamed_kernels(const ModelSpec& model,
                                                      const TrainingSpec& training,
                                                      PlanBuilder& build);

}  // namespace sluice

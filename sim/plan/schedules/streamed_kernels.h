// Which kernels do the passes of our schedule run?
#pragma once

#include <array>
#include <vector>

#include "sim/plan/plan_builder.h"

namespace sluice {

/// Kernel lists of one kind of layer, as indices of StepProgram::kernel_lists, in layers that keep
/// everything for backward and in others.
struct StreamedKernels {
    struct Lists {
        std::int32_t keeping = 0, others = 0;
        std::int32_t of(bool keeps) const { return keeps ? keeping : others; }
    };
    Lists forward, forward_later;  ///< of the first micro-batch of a step, and of the next ones
    Lists backward;
    /// By what the layer keeps: before its backward, and before that of the layer above, whose
    /// input it computes again.
    std::array<std::int32_t, 3> recompute{}, forward_again{};
    std::int32_t finish_gradients = 0;  ///< after the last micro-batch
    std::int32_t update = 0;            ///< AdamW on the device
};

/// Those of the head: the loss of a micro-batch, and after the last one.
struct StreamedHeadKernels {
    std::vector<std::int32_t> loss;  ///< a list a chunk, in their order; all but the last are one
    std::int32_t finish_gradients = 0;
    std::int32_t update = 0;  ///< on the device
};
StreamedHeadKernels declare_head_kernels(const ModelSpec& model, const TrainingSpec& training,
                                         PlanBuilder& build);

/// Those of adapters, if there are any, once the gradients of all are complete.
struct StreamedAdapterKernels {
    std::int32_t finish_gradients = 0;
    std::int32_t update = 0;
};
StreamedAdapterKernels declare_adapter_kernels(const ModelSpec& model, const TrainingSpec& training,
                                               PlanBuilder& build);

/// Those of an embedding that is resident.
struct StreamedEmbeddingKernels {
    std::int32_t gather = 0;    ///< the rows of the batch's tokens
    std::int32_t backward = 0;  ///< the sums of their gradients, by row
    std::int32_t update = 0;
};
StreamedEmbeddingKernels declare_embedding_kernels(const ModelSpec& model,
                                                   const TrainingSpec& training,
                                                   PlanBuilder& build);

/// For each kind of layer of the model, by how the first pass of a step has its weights' codes, in
/// their form.
std::vector<StreamedKernels> declare_streamed_kernels(const ModelSpec& model,
                                                      const TrainingSpec& training,
                                                      WeightCodes first, const WeightForm& form,
                                                      PlanBuilder& build);

/// More than one product adds to a weight gradient: it is summed in fp32 and rounded at the end.
bool sums_gradients(const TrainingSpec& training);

}  // namespace sluice

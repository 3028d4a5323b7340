// Which plan has our schedule, and where does it keep everything?
#pragma once

#include "sim/plan/schedules/streamed_buffers.h"

namespace sluice {

/// The sizes and settings with which operations compute.
struct StepShape {
    TokenBlock micro_batch;
    std::int64_t micro_batches = 1, of_a_pass = 1;  ///< of a step, and of a pass
    std::int64_t loss_chunk_tokens = 0;
    int state_bytes = 0;
    AdapterShape adapters;
    Clipping clipping{};
    Compute compute{}, head_gradients{};
    std::int64_t tokens() const { return micro_batches * micro_batch.tokens(); }
};
/// A plan, the homes that it follows, and which of its buffers are what: all that the engine reads.
struct StreamedPlan {
    StepPlan step;
    Placement homes;
    StreamedBuffers buffers;
    StepShape shape;
};
/// A step of --clipping auto whose updates all wait for the norm, as in a run that clips; or one
/// that rightly expects that nothing is clipped, with the operations of both.
enum class ClippedStep : std::uint8_t { waits, ahead };
/// Precondition: as plan_step().
StreamedPlan plan_streamed(const ModelSpec& model, const MachineSpec& machine,
                           const TrainingSpec& training, ClippedStep step = ClippedStep::waits,
                           Form activations = Form::bf16);

}  // namespace sluice

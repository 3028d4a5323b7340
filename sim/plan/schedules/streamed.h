// Which plan has our schedule, and where does it keep everything?
#pragma once

#include "sim/plan/schedules/streamed_buffers.h"

namespace sluice {

/// A plan, the homes that it follows, and which of its buffers are what: all that the engine reads.
struct StreamedPlan {
    StepPlan step;
    Placement homes;
    StreamedBuffers buffers;
};
/// A step of --clipping auto whose updates all wait for the norm, as in a run that clips; or one
/// that rightly expects that nothing is clipped, with the operations of both.
enum class ClippedStep : std::uint8_t { waits, ahead };
/// Precondition: as plan_step().
StreamedPlan plan_streamed(const ModelSpec& model, const MachineSpec& machine,
                           const TrainingSpec& training, ClippedStep step = ClippedStep::waits,
                           Form activations = Form::bf16);

}  // namespace sluice

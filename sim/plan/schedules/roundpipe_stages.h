// How does RoundPipe divide a model into stages? ModelExecutePlan.auto of roundpipe/scheduler.py:
// stages of about the longest layer's time, and the last ones' forward with their backward.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/units.h"

namespace sluice {

struct LayerTimes {
    Seconds forward = 0;
    Seconds backward = 0;  ///< with the recomputation before it
};

/// Layers `begin` to `end` - 1.
struct Stage {
    int begin = 0, end = 0;
    bool operator==(const Stage&) const = default;
};

struct RoundPipeStages {
    std::vector<Stage> forward;   ///< in order; the layers of the first backward stage are left out
    std::vector<Stage> backward;  ///< in order: from the last layers to the first
    Seconds longest = 0;          ///< time that a stage may take
};

/// Its limit of a stage's memory is left out: a stage is no longer than 1.1 times a layer.
RoundPipeStages roundpipe_stages(const std::vector<LayerTimes>& layers, int gpus);

/// A step of the pipeline: the times of its stages, in order, for one micro-batch.
struct PipelineStep {
    std::vector<Seconds> stages;
    int gpus = 1;
    std::int64_t micro_batches = 1;  ///< of a pass
    /// The next step begins when this one has ended; else it fills the pipeline behind it.
    bool drains = false;
};

/// A step's time over that of GPUs that never wait for each other. GPUs take the stages in turn; a
/// stage's micro-batch starts after the stage before has computed it.
double pipeline_pace(const PipelineStep& step);

}  // namespace sluice

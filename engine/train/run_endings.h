// Which words tell why a run goes on no longer, or goes on after something odd?
#pragma once

#include <optional>
#include <string>

#include "engine/machine/nvml.h"
#include "engine/train/divergence_watch.h"
#include "engine/train/run_settings.h"
#include "engine/watch/step_record.h"

namespace sluice {

/// For a step whose loss or gradient is not finite.
std::string divergence_words(const StepRecord& record);
/// For a run that has_diverged() with finite numbers, after the step of `record`.
std::string diverged_words(const StepRecord& record, const DivergenceMemory& memory);
std::string spike_words(const StepRecord& record, double deviations);
/// Whether a step and a checkpoint fit in --grace, and else what a signal will cost: a sentence.
/// `step`: 0 if it is not known. `newest`: the step of the newest checkpoint, if there is one.
std::string grace_words(const TrainSettings& settings, Seconds save, Seconds step,
                        std::optional<std::int64_t> newest);
/// The run was interrupted at the end of a step that was not saved, since that takes `save` and
/// less is `left` of --grace; `newest` is the step of the newest checkpoint.
std::string unsaved_words(const TrainSettings& settings, const StepRecord& record,
                          std::int64_t newest, Seconds save, Seconds left);
/// "; the driver reports Xid 79 (...)", of a GPU that has just failed, which may be null; "" if the
/// driver says nothing.
std::string driver_words(const Nvml* gpu);

}  // namespace sluice

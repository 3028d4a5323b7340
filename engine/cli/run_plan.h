// With which settings does a run train, and who chose them: the command line, a file, the
// checkpoint that it continues from, or the planner?
#pragma once

#include <optional>

#include "engine/cli/train_flags.h"
#include "engine/device/device.h"
#include "engine/train/expected_step.h"
#include "engine/train/run_checkpoints.h"

namespace sluice {

struct RunPlan {
    PlannedScenario asked;  ///< its training holds all settings that were chosen
    std::optional<ExpectedStep> expected;
    bool is_chosen = false;  ///< by --plan FILE or by a checkpoint: the planner leaves it as it is
};

/// Before a plan is searched: the flags, with the settings of --plan FILE, or of the checkpoint
/// that --resume continues from where --plan is not given, which it says. Throws InputError.
RunPlan asked_plan(const TrainFlags& flags, const std::optional<SavedPlan>& saved);

/// Throws InputError where check_training_spec() does.
TrainingSpec read_training(const RunPlan& plan);

/// With the planner's choice and prediction, where there is a machine to ask it for.
RunPlan planned_run(RunPlan plan, const TrainFlags& flags, const DeviceFacts& device);

}  // namespace sluice

// How does a whole training run go, from the first step to the last?
#pragma once

#include <string>

#include "engine/train/run_checkpoints.h"
#include "engine/train/run_settings.h"
#include "sim/plan/step.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

struct RunResult {
    std::int64_t steps_done = 0;
    bool interrupted = false;      ///< by a signal, before the last step
    bool stopped_early = false;    ///< by --patience, likewise
    bool unsaved = false;          ///< after a signal, since --grace left too little time
    bool diverged = false;         ///< at its last step, with finite numbers
    TimedPlan ran;                 ///< with the measured step, if enough steps ran
    std::string why_not_measured;  ///< else, a sentence
};

/// Plans, prints the plan's memory, allocates, trains, saves. Throws InputError if the input is
/// wrong or the plan does not fit; std::runtime_error if training cannot continue (a loss that is
/// not finite). `checkpoints`: of settings.out; null without it.
RunResult run_training(const ModelSpec& model, TrainingSpec training, const TrainSettings& settings,
                       RunCheckpoints* checkpoints, bool measure);

}  // namespace sluice

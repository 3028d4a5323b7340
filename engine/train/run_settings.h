// What do the settings of a run mean for a step, and may a run go on from a checkpoint with others?
#pragma once

#include <string>

#include "engine/data/batch_sampler.h"
#include "engine/optimizer/adamw.h"
#include "engine/train/train_settings.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// What the optimizer does in `step`, counted from 1; without gradient scales.
AdamWStep adamw_step(const TrainSettings& settings, std::int64_t step);

/// The settings that a checkpoint keeps, as a JSON object.
/// `data` and `tokens` are of the same files.
std::string settings_record(const TrainingSpec& training, const TrainSettings& settings,
                            const BatchSampler& data, TokenSource tokens);

/// Compares what a checkpoint keeps with the settings of now. Throws InputError where the position
/// in the data would mean something else; returns a sentence on every other difference.
std::string changed_settings(const std::string& folder, const std::string& saved,
                             const std::string& now);

}  // namespace sluice

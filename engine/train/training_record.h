// What stands in a checkpoint's training.json, and does it fit the run that reads it?
#pragma once

#include <string>

#include "engine/train/training_checkpoint.h"

namespace sluice {

inline constexpr const char* kTrainingRecordFile = "training.json";

/// InternalError where state.settings is no JSON object.
std::string training_record_text(const ModelSpec& model, const TrainingState& state,
                                 int state_bytes);

/// Throws InputError where the file is missing or damaged, of a newer format, or of another model
/// or state precision.
TrainingState read_training_record(const std::string& path, const ModelSpec& model,
                                   int state_bytes);

}  // namespace sluice

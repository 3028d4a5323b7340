// Which option of a training has no effect beside the others?
#pragma once

#include <optional>

#include "sim/base/input_error.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// The first option whose value changes nothing of the model's step, or only a part of it. Searches
/// may plan such steps; who asks for one is mistaken.
std::optional<Refusal> without_effect(const ModelSpec& model, const TrainingSpec& training);
/// Throws InputError where there is one.
void check_effects(const ModelSpec& model, const TrainingSpec& training);

}  // namespace sluice

// Which options say where our tensors live, and which rules have they? Each kind of sim/plan/homes
// declares its own.
#pragma once

#include <optional>
#include <vector>

#include "sim/base/input_error.h"
#include "sim/specs/scenario/option.h"

namespace sluice {

/// Those of all kinds of homes, in the order of the kinds.
const std::vector<Option>& home_options();

/// The first rule of a kind of home that the training breaks, whatever the model.
std::optional<Refusal> home_refusal(const TrainingSpec& training);

}  // namespace sluice

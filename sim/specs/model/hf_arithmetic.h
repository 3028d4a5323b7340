// What in a Hugging Face config.json says how a model computes: its norms' epsilon, its rotary
// positions. Plans do not depend on it, training does.
#pragma once

#include "sim/base/json_object.h"
#include "sim/specs/model/model_spec.h"

namespace sluice {

/// Sets norm_epsilon, rotary and not_trained of `model`. Throws InputError.
void read_hf_arithmetic(const JsonObject& config, ModelSpec& model);

}  // namespace sluice

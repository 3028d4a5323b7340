// Which config.json makes transformers build a model of ours?
#pragma once

#include <string>

#include "sim/specs/model/model_spec.h"

namespace sluice {

/// JSON as transformers 4 writes it, which 5 reads too; parse_hf_config() reads it back into the
/// same shape. A generic shape ("dense") becomes a llama. InternalError for a family that
/// layer_layout() refuses.
std::string hf_config_text(const ModelSpec& model);

}  // namespace sluice

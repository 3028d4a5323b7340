// Which weights do not fit a model, what made them so, and what helps?
#pragma once

#include <string_view>
#include <vector>

#include "engine/data/checkpoint.h"
#include "engine/memory/parameter_store.h"
#include "sim/specs/model/model_spec.h"

namespace sluice {

inline constexpr std::string_view kProjection = "lm_head.weight";
inline constexpr std::string_view kEmbedding = "model.embed_tokens.weight";

/// Throws InputError unless the file has each of the tensors, the model's, in its shape and as
/// numbers, and no others but buffers of rotary embeddings and an output projection.
void refuse_mismatch(const Checkpoint& file, const std::vector<NamedTensor>& tensors,
                     const ModelSpec& model);

}  // namespace sluice

// How do a published model's weights get into host memory?
#pragma once

#include <string>

#include "engine/memory/host_model.h"

namespace sluice {

/// Fills the parameters from Hugging Face safetensors in BF16, F16, F32 or F64 (a file, an index of
/// shards, or a folder with either); moments become zero. Throws InputError, before anything is
/// written, where a tensor is missing, unknown or of another shape or type; and for a value that is
/// not finite or becomes so in BF16. Buffers named rotary_emb.inv_freq are ignored; so is the
/// output projection of a tied model if it equals the embedding.
void load_weights(const std::string& path, const ModelSpec& model, HostModel& host,
                  ThreadPool& pool);

}  // namespace sluice

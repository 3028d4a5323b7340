// How does a checkpoint become a model's folder for other programs: without optimizer state, in the
// precision and in files of the size that these ask for?
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/data/safetensors_header.h"
#include "engine/train/weights_file.h"

namespace sluice {

struct ExportRequest {
    std::string from;                           ///< folder of a run, or one of its checkpoints
    std::string to;                             ///< the folder to make
    Dtype dtype = Dtype::bf16;                  ///< or f32: the masters, to the bit
    std::int64_t shard_bytes = kMaxShardBytes;  ///< a file has at most these
    std::optional<std::string> base = {};       ///< of adapters, in place of the weights they name
};

struct ExportedModel {
    std::string checkpoint;  ///< that was read
    std::int64_t bytes = 0;  ///< of weights
    std::size_t files = 0;   ///< of weights
};

/// Writes config.json, the tokenizer's files, and model.safetensors or shards with their index. The
/// folder has its name only once it is whole, also on the disk. Throws InputError, and leaves no
/// such folder, where `from` holds no whole checkpoint, the weights of its adapters are missing,
/// `to` exists, or the disk is full. Adapters are merged into their weights.
ExportedModel export_model(const ExportRequest& request);

}  // namespace sluice

// How is a model saved: in one file, or in shards with an index that other programs load?
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/data/safetensors_writer.h"

namespace sluice {

/// One file of a checkpoint.
struct ShardPlan {
    std::string file;                  ///< its name
    std::vector<std::size_t> tensors;  ///< indices into the list
};

/// Fills shards in the order of the list while their tensors sum up to at most `max_shard_bytes` (a
/// larger tensor has a shard of its own): model-00001-of-0000N.safetensors and so on, or
/// model.safetensors where one is enough.
std::vector<ShardPlan> plan_shards(std::span<const TensorSpec> tensors,
                                   std::int64_t max_shard_bytes);

/// Makes `folder` ready for a checkpoint of these tensors, before training starts and again before
/// it is written: creates it, and throws InputError when that fails, when it already holds a
/// checkpoint (mixing two would leave neither), or when the disk has too little room.
void prepare_checkpoint_folder(const std::string& folder, std::span<const TensorSpec> tensors);

/// Writes the shards, and last the index, if there are several: a checkpoint that was interrupted
/// does not open. `produce` gets indices into `tensors`. Errors as SafetensorsWriter::write() and
/// prepare_checkpoint_folder().
void write_checkpoint(const std::string& folder, std::span<const TensorSpec> tensors,
                      std::int64_t max_shard_bytes, const ProduceBytes& produce);

}  // namespace sluice

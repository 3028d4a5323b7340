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
/// larger tensor has a shard of its own): <stem>-00001-of-0000N.safetensors and so on, or
/// <stem>.safetensors where one is enough.
std::vector<ShardPlan> plan_shards(const std::string& stem, std::span<const TensorSpec> tensors,
                                   std::int64_t max_shard_bytes);

/// Writes these shards into `folder`, which exists, and last the index, if there are several: a
/// checkpoint that was interrupted does not open. Each file is on the disk when this returns.
/// `produce` gets indices into `tensors`. Errors as SafetensorsWriter::write().
void write_checkpoint(const std::string& folder, const std::string& stem,
                      std::span<const TensorSpec> tensors, std::int64_t max_shard_bytes,
                      const ProduceBytes& produce);

}  // namespace sluice

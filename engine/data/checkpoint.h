// Where is each tensor of a model: in one safetensors file, or in shards with an index?
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/data/safetensors.h"

namespace sluice {

inline constexpr const char* kCheckpointFile = "model.safetensors";
inline constexpr const char* kCheckpointIndex = "model.safetensors.index.json";

/// The tensors of a model, memory-mapped.
class Checkpoint {
  public:
    /// One file with all tensors.
    explicit Checkpoint(SafetensorsFile file);
    /// `file_of` maps tensor names to indices into `files`; `path` names the whole in messages.
    Checkpoint(std::string path, std::vector<SafetensorsFile> files,
               std::unordered_map<std::string, std::size_t> file_of);

    const std::string& path() const { return path_; }
    std::vector<std::string> names() const;  ///< sorted
    bool has(std::string_view name) const;
    /// Valid as long as the checkpoint (moved or not). Throws InputError, with the nearest name,
    /// when there is no such tensor.
    TensorView tensor(std::string_view name) const;
    std::int64_t bytes() const;  ///< of all tensors

  private:
    std::string path_;
    std::vector<SafetensorsFile> files_;
    std::unordered_map<std::string, std::size_t> file_of_;
};

/// Opens a .safetensors file, an index of shards (.json), or a folder with model.safetensors or
/// else model.safetensors.index.json, as Hugging Face's models have them. Throws InputError when
/// there is none, a shard is missing or damaged, or the index names a tensor that its shard lacks.
Checkpoint open_checkpoint(const std::string& path);

}  // namespace sluice

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

/// "model.safetensors" of the stem "model": the one file with all tensors.
std::string tensors_file(const std::string& stem);
/// "model.safetensors.index.json": which shard holds which tensor, where there are several.
std::string tensors_index(const std::string& stem);

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

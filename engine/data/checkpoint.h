// Where is each tensor of a model, in one safetensors file or in shards with an index, and which
// numbers does it hold?
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/data/files.h"
#include "engine/data/safetensors_header.h"

namespace sluice {

/// A tensor in a mapped file, valid for the lifetime of its checkpoint (moved or not).
struct TensorView {
    std::string file;  ///< for messages
    std::string name;
    Dtype dtype = Dtype::u8;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes;  ///< row-major, not necessarily aligned

    std::int64_t elements() const {
        return static_cast<std::int64_t>(bytes.size()) / dtype_bytes(dtype);
    }
};

/// Elements [begin, begin + count) as fp32, exact except for F64, which is rounded to nearest.
/// Throws InputError if the tensor is not F16, BF16, F32 or F64; InternalError for a range outside
/// it.
void read_as_fp32(const TensorView& tensor, std::int64_t begin, std::int64_t count, float* out);

/// "model.safetensors" for the stem "model": a single file with all tensors.
std::string tensors_file(const std::string& stem);
/// "model.safetensors.index.json": which of several shards holds which tensor.
std::string tensors_index(const std::string& stem);

/// The tensors of a model, memory-mapped.
class Checkpoint {
  public:
    /// Without tensors; `path` names the checkpoint in messages.
    explicit Checkpoint(std::string path) : path_(std::move(path)) {}

    /// Maps a safetensors file and adds the tensors that `wanted` accepts. Throws InputError for a
    /// file that cannot be read or does not match its header.
    void add_file(
        const std::string& file,
        const std::function<bool(const std::string& name)>& wanted = [](auto&) { return true; });

    const std::string& path() const { return path_; }
    std::vector<std::string> names() const;  ///< sorted
    bool has(std::string_view name) const { return tensors_.contains(name); }
    /// Throws InputError with the nearest name if there is no such tensor.
    const TensorView& tensor(std::string_view name) const;

  private:
    std::string path_;
    std::vector<MappedFile> files_;
    std::map<std::string, TensorView, std::less<>> tensors_;
};

/// The end of a sentence about a file or folder that holds a LoRA adapter instead.
inline constexpr const char* kAdapterWords =
    "holds a LoRA adapter, not the weights of a model; merge it into its base model first "
    "(merge_and_unload of PEFT), save that and give its folder";

/// Opens a .safetensors file, an index of shards (.json), or a folder with model.safetensors or
/// else model.safetensors.index.json, as in Hugging Face's models. Throws InputError if there is
/// none, a shard is missing or damaged, or the index names a tensor that its shard lacks.
Checkpoint open_checkpoint(const std::string& path);

}  // namespace sluice

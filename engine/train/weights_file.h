// Which tensors of files are the parameters and moments, and how are they read and written?
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/data/checkpoint.h"
#include "engine/data/checkpoint_writer.h"
#include "engine/memory/parameter_store.h"

namespace sluice {

/// A tensor in a file and its bytes in a store.
struct StoredTensor {
    TensorSpec spec;
    int section = 0;
    std::byte* data = nullptr;  ///< in the section's home
};

/// The upper planes of what is trained, with Hugging Face's names, which transformers loads, or
/// those of peft.
std::vector<StoredTensor> weight_tensors(const ParameterStore& store);

/// "sections.0.low".
std::string lower_plane_name(int section);

/// One tensor each for the other arrays of all sections: sections.0.low unless masters are bf16,
/// .exp_avg, .exp_avg_sq and, for 8-bit moments, .exp_avg_scale and .exp_avg_sq_scale. They are not
/// split by tensor, since scales are shared across tensors. With other `state_bytes` than the
/// store's they have no data.
std::vector<StoredTensor> optimizer_tensors(const ParameterStore& store, int state_bytes);
inline std::vector<StoredTensor> optimizer_tensors(const ParameterStore& store) {
    return optimizer_tensors(store, store.state_bytes());
}

/// The size at which transformers 4 begins a new file.
inline constexpr std::int64_t kMaxShardBytes = 5'000'000'000;

/// Fills `to` with the bytes of a tensor from `from` on, a place in its section's home.
using ReadState = std::function<void(int section, const std::byte* from, std::span<std::byte> to)>;
/// As ParameterStore::read() does.
ReadState reader_of(const ParameterStore& store);

/// write_checkpoint() of these tensors, as `read` gives them.
std::vector<FileChecksum> write_tensors(const std::string& folder, const std::string& stem,
                                        const ReadState& read,
                                        const std::vector<StoredTensor>& tensors,
                                        std::int64_t max_shard_bytes);

/// Opens files of write_tensors(). Throws InputError if there are none.
Checkpoint open_tensors(const std::string& folder, const std::string& stem);
/// Likewise. Throws InputError unless they hold exactly these tensors.
Checkpoint open_tensors(const std::string& folder, const std::string& stem,
                        const std::vector<StoredTensor>& tensors);

/// Fills the tensors from files that open_tensors() accepted.
void copy_tensors(const Checkpoint& from, const std::vector<StoredTensor>& tensors,
                  ParameterStore& store);

/// Fills the lower planes and moments from a file that open_tensors() accepted, which are of
/// `state_bytes` and are rounded to those of the store.
void convert_optimizer(const Checkpoint& from, int state_bytes, ParameterStore& store);

/// Throws InputError unless load_weights() finds the tensors of this model there. Reads
/// at most a page of two.
void check_weights(const std::string& path, const ModelSpec& model,
                   std::optional<std::int64_t> fewer_tokens = {});

/// Fills the parameters from Hugging Face safetensors in BF16, F16, F32 or F64 (a file, an index of
/// shards, or a folder with either); other state stays as it is. Throws InputError, before anything
/// is written, if a tensor is missing, unknown or of another shape or type, or a value is not
/// finite, also in BF16. Ignores buffers named rotary_emb.inv_freq, and the output projection of a
/// tied model if it equals the embedding. The weights may have `fewer_tokens` than the model, if
/// that is given: the rows of others in embedding and output projection are then the mean of those
/// there, as in transformers (resize_token_embeddings), which adds noise of 1e-9 of the variance.
void load_weights(const std::string& path, const ModelSpec& model, ParameterStore& store,
                  std::optional<std::int64_t> fewer_tokens = {});

}  // namespace sluice

// Which tensors of files are the host's parameters and moments, and how are they read and written?
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/data/checkpoint.h"
#include "engine/data/checkpoint_writer.h"
#include "engine/memory/host_model.h"

namespace sluice {

/// A tensor in a file and its bytes in host memory.
struct HostTensor {
    TensorSpec spec;
    std::byte* data = nullptr;
};

/// The upper planes with Hugging Face's names, which transformers loads.
std::vector<HostTensor> weight_tensors(const HostModel& host);

/// One tensor each for the other arrays of all sections: sections.0.low, .exp_avg, .exp_avg_sq and,
/// for 8-bit moments, .exp_avg_scale and .exp_avg_sq_scale. They are not split by tensor, since
/// scales are shared across tensors.
std::vector<HostTensor> optimizer_tensors(const HostModel& host);

/// Bytes that a thread copies at a time.
inline constexpr std::int64_t kCopyGrain = std::int64_t{1} << 20;

/// The size at which transformers 4 begins a new file.
inline constexpr std::int64_t kMaxShardBytes = 5'000'000'000;

/// write_checkpoint() of these tensors.
void write_tensors(const std::string& folder, const std::string& stem,
                   const std::vector<HostTensor>& tensors, std::int64_t max_shard_bytes,
                   ThreadPool& pool);

/// Opens files of write_tensors(). Throws InputError unless they hold exactly these tensors.
Checkpoint open_tensors(const std::string& folder, const std::string& stem,
                        const std::vector<HostTensor>& tensors);

/// Fills the tensors from files that open_tensors() accepted.
void copy_tensors(const Checkpoint& from, const std::vector<HostTensor>& tensors, ThreadPool& pool);

/// Fills the parameters from Hugging Face safetensors in BF16, F16, F32 or F64 (a file, an index of
/// shards, or a folder with either); moments become zero. Throws InputError, before anything is
/// written, if a tensor is missing, unknown or of another shape or type, or a value is not finite,
/// also in BF16. Ignores buffers named rotary_emb.inv_freq, and the output projection of a tied
/// model if it equals the embedding.
void load_weights(const std::string& path, const ModelSpec& model, HostModel& host,
                  ThreadPool& pool);

}  // namespace sluice

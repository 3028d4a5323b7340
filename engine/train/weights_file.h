// Which tensors in files are the host's parameters and moments, and how do they get there and back?
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

/// The upper planes by Hugging Face's names: what transformers loads.
std::vector<HostTensor> weight_tensors(const HostModel& host);

/// The rest of a section each: sections.0.low, .exp_avg, .exp_avg_sq and, of 8-bit moments,
/// .exp_avg_scale and .exp_avg_sq_scale. Not a tensor each, since scales are shared across tensors.
std::vector<HostTensor> optimizer_tensors(const HostModel& host);

/// Bytes that a thread copies at a time.
inline constexpr std::int64_t kCopyGrain = std::int64_t{1} << 20;

/// The size at which transformers 4 begins a new file.
inline constexpr std::int64_t kMaxShardBytes = 5'000'000'000;

/// write_checkpoint() of these tensors.
void write_tensors(const std::string& folder, const std::string& stem,
                   const std::vector<HostTensor>& tensors, std::int64_t max_shard_bytes,
                   ThreadPool& pool);

/// Opens what write_tensors() wrote. Throws InputError unless it holds exactly these tensors.
Checkpoint open_tensors(const std::string& folder, const std::string& stem,
                        const std::vector<HostTensor>& tensors);

/// Fills the tensors from files that open_tensors() found right.
void copy_tensors(const Checkpoint& from, const std::vector<HostTensor>& tensors, ThreadPool& pool);

/// Fills the parameters from Hugging Face safetensors in BF16, F16, F32 or F64 (a file, an index of
/// shards, or a folder with either); moments become zero. Throws InputError, before anything is
/// written, where a tensor is missing, unknown or of another shape or type; and for a value that is
/// not finite or becomes so in BF16. Buffers named rotary_emb.inv_freq are ignored; so is the
/// output projection of a tied model if it equals the embedding.
void load_weights(const std::string& path, const ModelSpec& model, HostModel& host,
                  ThreadPool& pool);

}  // namespace sluice

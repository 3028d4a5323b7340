// How is a model saved: in one safetensors file, or in shards with an index that other programs
// load?
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/data/checksum.h"
#include "engine/data/safetensors_header.h"

namespace sluice {

struct TensorSpec {
    std::string name;
    Dtype dtype = Dtype::u8;
    std::vector<std::int64_t> shape;
};

/// Bytes of such a tensor; InternalError for an impossible shape.
std::int64_t tensor_bytes(const TensorSpec& tensor);

/// Fills `chunk` with the bytes from `begin` on (row-major, little-endian) of tensor number
/// `tensor` of the list. Chunks of a tensor come in order, begin at multiples of 64 bytes and are
/// never empty.
using ProduceBytes =
    std::function<void(std::size_t tensor, std::int64_t begin, std::span<std::byte> chunk)>;

/// Chunks of a tensor are at most this large; writing needs no other memory.
inline constexpr std::int64_t kWriteBuffer = std::int64_t{64} << 20;

/// Writes the same bytes as the `safetensors` package does for the same tensors with the metadata
/// {"format": "pt"}: tensors sorted by dtype (see Dtype), then name; a compact header, padded with
/// spaces to a multiple of 8 bytes.
class SafetensorsWriter {
  public:
    /// InternalError if two names are equal.
    explicit SafetensorsWriter(std::vector<TensorSpec> tensors);

    std::int64_t file_bytes() const;
    /// Returns its checksum when the file is on the disk. Throws InputError if it cannot be
    /// written, and passes on exceptions of `produce`; then there is no new file. `buffer_bytes`: a
    /// multiple of 64.
    std::uint64_t write(const std::string& path, const ProduceBytes& produce,
                        std::int64_t buffer_bytes = kWriteBuffer) const;

  private:
    std::vector<TensorSpec> tensors_;
    std::vector<std::size_t> order_;  ///< of tensors_ in the file
    std::string prefix_;              ///< length and header
    std::int64_t data_bytes_ = 0;
};

struct ShardPlan {
    std::string file;                  ///< its name
    std::vector<std::size_t> tensors;  ///< indices into the list
};

/// Fills shards in the order of the list while their tensors sum up to at most `max_shard_bytes` (a
/// larger tensor has its own shard): <stem>-00001-of-0000N.safetensors and so on, or
/// <stem>.safetensors if one is enough.
std::vector<ShardPlan> plan_shards(const std::string& stem, std::span<const TensorSpec> tensors,
                                   std::int64_t max_shard_bytes);

/// Writes these shards into the existing `folder`, and the index last, if there are several, so
/// that an interrupted checkpoint does not open. Each file is on the disk when this returns.
/// `produce` gets indices into `tensors`. Returns the files with their checksums. Errors as in
/// SafetensorsWriter::write().
std::vector<FileChecksum> write_checkpoint(const std::string& folder, const std::string& stem,
                                           std::span<const TensorSpec> tensors,
                                           std::int64_t max_shard_bytes,
                                           const ProduceBytes& produce);

}  // namespace sluice

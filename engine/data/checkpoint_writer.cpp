#include "engine/data/checkpoint_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <utility>

#include "engine/data/checkpoint.h"
#include "engine/data/files.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors in files are little-endian");

void check_names(const std::vector<TensorSpec>& tensors) {
    std::set<std::string> seen{"__metadata__"};
    for (const TensorSpec& tensor : tensors) {
        if (!seen.insert(tensor.name).second)
            throw InternalError(
                fmt::format("tensor {} to be written twice", in_quotes(tensor.name)));
    }
}

/// The header's length in 8 bytes, then the header.
std::string with_length(std::string header) {
    header.append((8 - header.size() % 8) % 8, ' ');
    const std::uint64_t length = header.size();
    std::string prefix(sizeof(length), '\0');
    std::memcpy(prefix.data(), &length, sizeof(length));
    return prefix + header;
}

}  // namespace

std::int64_t tensor_bytes(const TensorSpec& tensor) {
    const auto bytes = tensor_bytes(tensor.dtype, tensor.shape);
    if (!bytes)
        throw InternalError(
            fmt::format("tensor {}: shape {}", in_quotes(tensor.name), shown_shape(tensor.shape)));
    return *bytes;
}

SafetensorsWriter::SafetensorsWriter(std::vector<TensorSpec> tensors)
    : tensors_(std::move(tensors)), order_(tensors_.size()) {
    check_names(tensors_);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(tensors_[b].dtype, std::string_view(tensors_[a].name)) <
               std::pair(tensors_[a].dtype, std::string_view(tensors_[b].name));
    });
    std::string header = R"({"__metadata__":{"format":"pt"})";
    for (const std::size_t i : order_) {
        const TensorSpec& tensor = tensors_[i];
        const std::int64_t end = data_bytes_ + tensor_bytes(tensor);
        header += fmt::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                              nlohmann::json(tensor.name).dump(), dtype_name(tensor.dtype),
                              fmt::join(tensor.shape, ","), data_bytes_, end);
        data_bytes_ = end;
    }
    prefix_ = with_length(header + "}");
}

std::int64_t SafetensorsWriter::file_bytes() const {
    return static_cast<std::int64_t>(prefix_.size()) + data_bytes_;
}

std::uint64_t SafetensorsWriter::write(const std::string& path, const ProduceBytes& produce,
                                       std::int64_t buffer_bytes) const {
    if (buffer_bytes < 64 || buffer_bytes % 64 != 0)
        throw InternalError(fmt::format("{}: write buffer of {} bytes", path, buffer_bytes));
    std::int64_t largest = 0;
    for (const TensorSpec& tensor : tensors_) largest = std::max(largest, tensor_bytes(tensor));
    std::vector<std::byte> buffer(static_cast<std::size_t>(std::min(largest, buffer_bytes)));
    OutputFile file(path, file_bytes());
    file.write(prefix_);
    for (const std::size_t i : order_) {
        const std::int64_t bytes = tensor_bytes(tensors_[i]);
        for (std::int64_t begin = 0; begin < bytes; begin += buffer_bytes) {
            const auto count = static_cast<std::size_t>(std::min(buffer_bytes, bytes - begin));
            const std::span<std::byte> chunk = std::span(buffer).first(count);
            produce(i, begin, chunk);
            file.write(chunk);
        }
    }
    return file.commit();
}

namespace {

namespace fs = std::filesystem;

void name_shards(const std::string& stem, std::vector<ShardPlan>& shards) {
    if (shards.size() == 1) {
        shards[0].file = tensors_file(stem);
        return;
    }
    for (std::size_t i = 0; i < shards.size(); ++i)
        shards[i].file = tensors_file(fmt::format("{}-{:05}-of-{:05}", stem, i + 1, shards.size()));
}

std::uint64_t write_shard(const fs::path& folder, const ShardPlan& shard,
                          std::span<const TensorSpec> tensors, const ProduceBytes& produce) {
    std::vector<TensorSpec> own;
    for (const std::size_t i : shard.tensors) own.push_back(tensors[i]);
    const auto produce_own = [&](std::size_t tensor, std::int64_t begin,
                                 std::span<std::byte> chunk) {
        produce(shard.tensors[tensor], begin, chunk);
    };
    return SafetensorsWriter(std::move(own)).write((folder / shard.file).string(), produce_own);
}

std::uint64_t write_index(const std::string& path, const std::vector<ShardPlan>& shards,
                          std::span<const TensorSpec> tensors) {
    std::int64_t total = 0;
    nlohmann::json index;
    for (const ShardPlan& shard : shards) {
        for (const std::size_t i : shard.tensors) {
            index["weight_map"][tensors[i].name] = shard.file;
            total += tensor_bytes(tensors[i]);
        }
    }
    index["metadata"]["total_size"] = total;
    return write_output_file(path, index.dump(2) + "\n");
}

}  // namespace

std::vector<ShardPlan> plan_shards(const std::string& stem, std::span<const TensorSpec> tensors,
                                   std::int64_t max_shard_bytes) {
    std::vector<ShardPlan> shards(1);
    std::int64_t filled = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const std::int64_t bytes = tensor_bytes(tensors[i]);
        if (!shards.back().tensors.empty() && filled + bytes > max_shard_bytes) {
            shards.emplace_back();
            filled = 0;
        }
        shards.back().tensors.push_back(i);
        filled += bytes;
    }
    name_shards(stem, shards);
    return shards;
}

std::vector<FileChecksum> write_checkpoint(const std::string& folder, const std::string& stem,
                                           std::span<const TensorSpec> tensors,
                                           std::int64_t max_shard_bytes,
                                           const ProduceBytes& produce) {
    const std::vector<ShardPlan> shards = plan_shards(stem, tensors, max_shard_bytes);
    std::vector<FileChecksum> written;
    for (const ShardPlan& shard : shards)
        written.push_back({shard.file, write_shard(folder, shard, tensors, produce)});
    if (shards.size() == 1) return written;
    const std::string index = tensors_index(stem);
    written.push_back({index, write_index((fs::path(folder) / index).string(), shards, tensors)});
    return written;
}

}  // namespace sluice

#include "engine/data/checkpoint_writer.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/data/checkpoint.h"
#include "engine/data/output_file.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

void name_shards(const std::string& stem, std::vector<ShardPlan>& shards) {
    if (shards.size() == 1) {
        shards[0].file = tensors_file(stem);
        return;
    }
    for (std::size_t i = 0; i < shards.size(); ++i) {
        shards[i].file = tensors_file(fmt::format("{}-{:05}-of-{:05}", stem, i + 1, shards.size()));
    }
}

void write_shard(const fs::path& folder, const ShardPlan& shard,
                 std::span<const TensorSpec> tensors, const ProduceBytes& produce) {
    std::vector<TensorSpec> own;
    for (const std::size_t i : shard.tensors) own.push_back(tensors[i]);
    const auto produce_own = [&](std::size_t tensor, std::int64_t begin,
                                 std::span<std::byte> chunk) {
        produce(shard.tensors[tensor], begin, chunk);
    };
    SafetensorsWriter(std::move(own)).write((folder / shard.file).string(), produce_own);
}

void write_index(const std::string& path, const std::vector<ShardPlan>& shards,
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
    const std::string text = index.dump(2) + "\n";
    OutputFile file(path, static_cast<std::int64_t>(text.size()));
    file.write(text);
    file.commit();
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

void write_checkpoint(const std::string& folder, const std::string& stem,
                      std::span<const TensorSpec> tensors, std::int64_t max_shard_bytes,
                      const ProduceBytes& produce) {
    const std::vector<ShardPlan> shards = plan_shards(stem, tensors, max_shard_bytes);
    for (const ShardPlan& shard : shards) write_shard(folder, shard, tensors, produce);
    if (shards.size() > 1)
        write_index((fs::path(folder) / tensors_index(stem)).string(), shards, tensors);
}

}  // namespace sluice

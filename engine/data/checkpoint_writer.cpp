#include "engine/data/checkpoint_writer.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "engine/data/checkpoint.h"
#include "engine/data/output_file.h"
#include "sim/input_error.h"
#include "sim/report/format.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

std::int64_t total_bytes(std::span<const TensorSpec> tensors) {
    std::int64_t sum = 0;
    for (const TensorSpec& tensor : tensors) sum += tensor_bytes(tensor);
    return sum;
}

void name_shards(std::vector<ShardPlan>& shards) {
    if (shards.size() == 1) {
        shards[0].file = kCheckpointFile;
        return;
    }
    for (std::size_t i = 0; i < shards.size(); ++i) {
        shards[i].file = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
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

void write_index(const fs::path& folder, const std::vector<ShardPlan>& shards,
                 std::span<const TensorSpec> tensors) {
    nlohmann::json index;
    index["metadata"]["total_size"] = total_bytes(tensors);
    for (const ShardPlan& shard : shards) {
        for (const std::size_t i : shard.tensors) index["weight_map"][tensors[i].name] = shard.file;
    }
    const std::string text = index.dump(2) + "\n";
    OutputFile file((folder / kCheckpointIndex).string(), static_cast<std::int64_t>(text.size()));
    file.write(text);
    file.commit();
}

}  // namespace

std::vector<ShardPlan> plan_shards(std::span<const TensorSpec> tensors,
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
    name_shards(shards);
    return shards;
}

void prepare_checkpoint_folder(const std::string& folder, std::span<const TensorSpec> tensors) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) {
        throw InputError(
            fmt::format("{}: cannot be created ({}); check the permissions or choose another --out",
                        folder, error.message()));
    }
    for (const char* name : {kCheckpointFile, kCheckpointIndex}) {
        if (fs::exists(fs::path(folder) / name, error)) {
            throw InputError(fmt::format("{}: already holds {}; choose another --out or remove it",
                                         folder, name));
        }
    }
    const std::int64_t needed = total_bytes(tensors);
    const std::int64_t free = free_disk_bytes(folder);
    if (free >= 0 && free < needed) {
        throw InputError(
            fmt::format("{}: the checkpoint needs {}, but only {} of the disk are free; free {} or "
                        "choose another --out",
                        folder, format_bytes(static_cast<double>(needed)),
                        format_bytes(static_cast<double>(free)),
                        format_bytes(static_cast<double>(needed - free))));
    }
}

void write_checkpoint(const std::string& folder, std::span<const TensorSpec> tensors,
                      std::int64_t max_shard_bytes, const ProduceBytes& produce) {
    prepare_checkpoint_folder(folder, tensors);
    const std::vector<ShardPlan> shards = plan_shards(tensors, max_shard_bytes);
    for (const ShardPlan& shard : shards) write_shard(folder, shard, tensors, produce);
    if (shards.size() > 1) write_index(folder, shards, tensors);
}

}  // namespace sluice

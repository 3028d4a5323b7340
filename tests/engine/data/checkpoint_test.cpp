#include "engine/data/checkpoint.h"

#include <nlohmann/json.hpp>

#include "engine/data/checkpoint_writer.h"
#include "engine/data/files.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"

using namespace sluice;

namespace {

using Names = std::vector<std::string>;

const std::vector<TensorSpec> kTensors = {{"embed", Dtype::bf16, {4, 2}},   // 16 bytes
                                          {"layer.0", Dtype::f32, {3}},     // 12 bytes
                                          {"layer.1", Dtype::bf16, {2}},    // 4 bytes
                                          {"head", Dtype::bf16, {10, 2}}};  // 40 bytes

/// Every byte of tensor i is i + 1.
void produce(std::size_t tensor, std::int64_t, std::span<std::byte> chunk) {
    std::fill(chunk.begin(), chunk.end(), static_cast<std::byte>(tensor + 1));
}

void check_tensors(const Checkpoint& checkpoint) {
    CHECK(checkpoint.names() == Names{"embed", "head", "layer.0", "layer.1"});
    for (std::size_t i = 0; i < kTensors.size(); ++i) {
        const TensorView tensor = checkpoint.tensor(kTensors[i].name);
        CHECK(tensor.dtype == kTensors[i].dtype);
        CHECK(tensor.shape == kTensors[i].shape);
        CHECK(tensor.bytes.size() == static_cast<std::size_t>(tensor_bytes(kTensors[i])));
        for (const std::byte byte : tensor.bytes) REQUIRE(byte == static_cast<std::byte>(i + 1));
    }
}

std::string open_error(const std::string& path) {
    return input_error_of([&] { open_checkpoint(path); });
}

}  // namespace

TEST_CASE("checkpoint: shards are filled in order, a large tensor has one of its own", "[data]") {
    const auto tensors_of = [](std::int64_t limit) {
        std::vector<std::vector<std::size_t>> tensors;
        for (const ShardPlan& shard : plan_shards("model", kTensors, limit))
            tensors.push_back(shard.tensors);
        return tensors;
    };
    using Shards = std::vector<std::vector<std::size_t>>;
    CHECK(tensors_of(72) == Shards{{0, 1, 2, 3}});
    CHECK(tensors_of(71) == Shards{{0, 1, 2}, {3}});
    CHECK(tensors_of(28) == Shards{{0, 1}, {2}, {3}});
    CHECK(tensors_of(1) == Shards{{0}, {1}, {2}, {3}});
    CHECK(plan_shards("model", kTensors, 72)[0].file == "model.safetensors");
    CHECK(plan_shards("optimizer", kTensors, 28)[2].file == "optimizer-00003-of-00003.safetensors");
}

TEST_CASE("checkpoint: one file is written and opened by folder or name", "[data]") {
    const TempFolder temp;
    std::filesystem::create_directory(temp.path("out"));
    write_checkpoint(temp.path("out"), "model", kTensors, 1000, produce);
    check_tensors(open_checkpoint(temp.path("out")));
    check_tensors(open_checkpoint(temp.path("out/model.safetensors")));
}

TEST_CASE("checkpoint: shards are written with an index of every tensor", "[data]") {
    const TempFolder temp;
    write_checkpoint(temp.path(), "model", kTensors, 28, produce);
    CHECK(temp.names() ==
          Names{"model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors",
                "model-00003-of-00003.safetensors", "model.safetensors.index.json"});
    CHECK(temp.read("model.safetensors.index.json") == R"({
  "metadata": {
    "total_size": 72
  },
  "weight_map": {
    "embed": "model-00001-of-00003.safetensors",
    "head": "model-00003-of-00003.safetensors",
    "layer.0": "model-00001-of-00003.safetensors",
    "layer.1": "model-00002-of-00003.safetensors"
  }
}
)");
    check_tensors(open_checkpoint(temp.path()));
    check_tensors(open_checkpoint(temp.path("model.safetensors.index.json")));
}

TEST_CASE("checkpoint: a missing tensor is named with the nearest", "[data]") {
    const TempFolder temp;
    write_checkpoint(temp.path(), "model", kTensors, 28, produce);
    const Checkpoint checkpoint = open_checkpoint(temp.path());
    CHECK_FALSE(checkpoint.has("layer.2"));
    CHECK_THAT(input_error_of([&] { checkpoint.tensor("embeds"); }),
               ContainsSubstring("model.safetensors.index.json: has no tensor \"embeds\"; did you "
                                 "mean \"embed\"?"));
}

TEST_CASE("checkpoint: a folder without one and an index that is wrong are refused", "[data]") {
    const TempFolder temp;
    CHECK(open_error(temp.path()) ==
          temp.path() +
              ": holds neither model.safetensors nor model.safetensors.index.json; save "
              "or download the model as safetensors");
    CHECK_THAT(open_error(temp.path("none.safetensors")), ContainsSubstring("no such file"));
    write_checkpoint(temp.path(), "model", kTensors, 28, produce);
    const auto with_index = [&](const std::string& text) {
        return open_error(temp.write("model.safetensors.index.json", text));
    };
    const std::string shard = "model-00002-of-00003.safetensors";
    CHECK_THAT(with_index("{}"), ContainsSubstring("weight_map is missing"));
    CHECK_THAT(with_index(R"({"weight_map":{}})"), ContainsSubstring("weight_map is empty"));
    CHECK_THAT(with_index(R"({"weight_map":{"a":1}})"), ContainsSubstring("weight_map.a is 1"));
    CHECK_THAT(
        with_index(R"({"weight_map":{"a":"../b"}})"),
        ContainsSubstring("\"a\" is \"../b\", expected the name of a file in the same folder"));
    CHECK_THAT(with_index(R"({"weight_map":{"embed":")" + shard + "\"}}"),
               ContainsSubstring("\"embed\" should be in \"" + shard + "\", which has no such "));
    std::filesystem::remove(temp.path(shard));
    CHECK_THAT(with_index(R"({"weight_map":{"layer.1":")" + shard + "\"}}"),
               ContainsSubstring("\"layer.1\" should be in " + temp.path(shard) +
                                 ", which does not exist; download or save that file, too"));
    CHECK_THAT(with_index(R"({"weight_map":{"lm_head.weight":"none"}})"),
               ContainsSubstring("or remove the entry if the model's embeddings are tied"));
    std::filesystem::remove(temp.path("model.safetensors.index.json"));
    temp.write("adapter_config.json", "{}");
    CHECK_THAT(open_error(temp.path()), ContainsSubstring("holds a LoRA adapter"));
}

TEST_CASE("output file: a file that is shorter than declared is a mistake of the program",
          "[data]") {
    const TempFolder temp;
    {
        OutputFile file(temp.path("a"), 2);
        file.write("x");
        CHECK_THROWS_AS(file.commit(), InternalError);
    }
    CHECK(temp.names().empty());
}

TEST_CASE("output file: a disk says how much room it has, a folder that is not there does not",
          "[data]") {
    const TempFolder temp;
    CHECK(free_disk_bytes(temp.path()) > 0);
    CHECK(free_disk_bytes(temp.path("none")) == -1);
}

TEST_CASE("output file: what a link named like an unfinished file leads to is not written",
          "[data]") {
    const TempFolder temp;
    const std::string mine = temp.write("mine", "thesis");
    std::filesystem::create_symlink(mine, temp.path("latest.partial"));
    CHECK_THAT(input_error_of([&] { write_output_file(temp.path("latest"), "step"); }),
               ContainsSubstring("latest.partial: is a link to a file, which would be lost"));
    CHECK(temp.read("mine") == "thesis");
}

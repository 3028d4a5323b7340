#include "engine/train/model_files.h"

#include <nlohmann/json.hpp>

#include "engine/train/training_checkpoint.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"
#include "tests/engine/train_files/tiny_model.h"

using namespace sluice;

TEST_CASE("model files: a checkpoint keeps tokenizer and special tokens", "[train_files]") {
    const TempFolder temp;
    std::filesystem::create_directory(temp.path("base"));
    temp.write("base/config.json",
               R"({"eos_token_id": [7, 8], "pad_token_id": null, "vocab_size": 99,
                   "quantization_config": {"bits": 4}, "dtype": "float16"})");
    temp.write("base/tokenizer.json", "{\"a\": 1}");
    temp.write("base/merges.txt", "a b");
    temp.write("base/model.safetensors", "weights");
    temp.write("base/notes.txt", "mine");
    for (const char* model : {"base", "base/model.safetensors"}) {
        const ModelFiles files = read_model_files(temp.path(model));
        REQUIRE(files.others.size() == 2);
        TinyStore tiny(tiny_model());
        save_checkpoint(temp.path("out"), tiny.model, tiny.store, {1, 0, 0, "{}"}, 1, files);
        CHECK(temp.read("out/step-00000001/tokenizer.json") == "{\"a\": 1}");
        CHECK(temp.read("out/step-00000001/merges.txt") == "a b");
        const auto config = nlohmann::json::parse(temp.read("out/step-00000001/config.json"));
        CHECK(config["eos_token_id"] == nlohmann::json({7, 8}));
        CHECK(config["pad_token_id"].is_null());
        CHECK(config["vocab_size"] == 33);  // of the trained model
        CHECK(config["torch_dtype"] == "bfloat16");
        CHECK_FALSE(config.contains("quantization_config"));
        CHECK_FALSE(config.contains("dtype"));
        CHECK(load_checkpoint(temp.path("out/step-00000001"), tiny.model, tiny.store).step == 1);
        // A run that goes on from the checkpoint's own folder keeps them too.
        CHECK(read_model_files(temp.path("out/step-00000001")).others.size() == 2);
    }
}

TEST_CASE("model files: lists of layers have an entry for each layer that is trained",
          "[train_files]") {
    const TempFolder temp;
    temp.write("config.json", R"({"layer_types": ["full_attention", "full_attention",
        "full_attention"], "mlp_layer_types": ["dense", "dense", "dense"], "limit": Infinity})");
    ModelSpec model = tiny_model("qwen3", true);
    const ModelFiles files = read_model_files(temp.path());
    const auto config = nlohmann::json::parse(config_with_rest(model, files));
    CHECK(config["layer_types"] == nlohmann::json(std::vector<std::string>(2, "full_attention")));
    CHECK(config["num_hidden_layers"] == 2);
    CHECK_FALSE(config.contains("mlp_layer_types"));
    // As transformers 5 writes it.
    CHECK(config["limit"] == nlohmann::json({{"__float__", "Infinity"}}));
    // Without a list of its own, the config gets none.
    CHECK_FALSE(nlohmann::json::parse(config_with_rest(model, {})).contains("layer_types"));
}

TEST_CASE("model files: a tokenizer may be larger than any config", "[train_files]") {
    const TempFolder temp;
    temp.write("config.json", "{}");
    const std::string large(kMaxInputBytes + 1, 'x');
    temp.write("tokenizer.json", large);
    const ModelFiles files = read_model_files(temp.path());
    REQUIRE(files.others.size() == 1);
    CHECK(files.others[0].second == large);
}

TEST_CASE("model files: a link to nothing is refused, since transformers would miss the file",
          "[train_files]") {
    const TempFolder temp;
    temp.write("config.json", "{}");
    std::filesystem::create_symlink(temp.path("gone"), temp.path("tokenizer.json"));
    CHECK(tokenizer_file(temp.path()) == temp.path("tokenizer.json"));
    CHECK_THAT(input_error_of([&] { read_model_files(temp.path()); }),
               ContainsSubstring(temp.path("tokenizer.json") + ": is a link to a file that does"));
}

TEST_CASE("model files: a name of the library has none", "[train_files]") {
    const TempFolder temp;
    CHECK(read_model_files("qwen2.5-7b").config.empty());
    CHECK(read_model_files(temp.path()).others.empty());
    temp.write("config.json", "[1]");
    CHECK_THAT(input_error_of([&] { read_model_files(temp.path()); }),
               ContainsSubstring(temp.path("config.json")));
}

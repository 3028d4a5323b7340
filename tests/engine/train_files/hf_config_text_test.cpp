#include <nlohmann/json.hpp>

#include "engine/train/training_checkpoint.h"
#include "sim/base/input_error.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/engine/train_files/tiny_model.h"

using namespace sluice;

namespace {

void check_same_shape(const ModelSpec& found, const ModelSpec& expected) {
    CHECK(found.hidden == expected.hidden);
    CHECK(found.vocabulary == expected.vocabulary);
    CHECK(found.longest_sequence == expected.longest_sequence);
    CHECK(found.tied_embeddings == expected.tied_embeddings);
    CHECK(found.norm_epsilon == expected.norm_epsilon);
    CHECK(found.rotary == expected.rotary);
    CHECK(found.not_trained == expected.not_trained);
    REQUIRE(found.layer_count() == expected.layer_count());
    for (int i = 0; i < found.layer_count(); ++i) CHECK(found.layer(i) == expected.layer(i));
}

ModelSpec read_back(const ModelSpec& model) {
    return parse_hf_config(hf_config_text(model), "config.json");
}

}  // namespace

TEST_CASE("config.json: models of every family are read back as they were", "[train_files]") {
    for (const char* name : {"qwen2.5-0.5b", "qwen2.5-7b", "qwen3-0.6b", "qwen3-8b", "llama-3.1-8b",
                             "llama-3.2-1b", "mistral-7b-v0.1", "mistral-large-instruct-2407"}) {
        INFO(name);
        const ModelSpec model = read_model(name);
        check_same_shape(read_back(model), model);
        CHECK(read_back(model).family == model.family);
    }
}

TEST_CASE("config.json: a generic shape becomes a llama", "[train_files]") {
    const ModelSpec model = parse_generic_model("layers=3,hidden=96,head_dim=24,tied=1");
    check_same_shape(read_back(model), model);
    CHECK(read_back(model).family == "llama");
}

TEST_CASE("config.json: untied, truncated and windowed layers are told", "[train_files]") {
    ModelSpec model = read_model("qwen2.5-0.5b");
    model.tied_embeddings = false;
    truncate_layers(model, 1);
    LayerSpec windowed = model.layer(0);
    windowed.attention.window = 128;
    append_layers(model, windowed, 2);
    check_same_shape(read_back(model), model);
}

TEST_CASE("config.json: windows of some layers are told in any order", "[train_files]") {
    for (const char* family : {"qwen3", "mistral"}) {
        INFO(family);
        ModelSpec model = tiny_model(family, true);
        const LayerSpec full = model.layer(0);
        LayerSpec windowed = full;
        windowed.attention.window = 5;
        for (const auto& layers : {std::vector{full, windowed, full},
                                   {windowed, full, windowed},
                                   {windowed, windowed, full}}) {
            model.kinds.clear();
            model.layers.clear();
            for (const LayerSpec& layer : layers) append_layers(model, layer, 1);
            check_same_shape(read_back(model), model);
        }
    }
}

TEST_CASE("config.json: reads as transformers writes it", "[train_files]") {
    ModelSpec model = tiny_model("llama", true);
    model.longest_sequence = 4096;
    model.rotary = {500'000, 8, 1, 4, 8192};
    CHECK(hf_config_text(model) == R"({
  "model_type": "llama",
  "architectures": [
    "LlamaForCausalLM"
  ],
  "vocab_size": 33,
  "hidden_size": 10,
  "intermediate_size": 14,
  "num_hidden_layers": 2,
  "num_attention_heads": 2,
  "num_key_value_heads": 1,
  "head_dim": 6,
  "hidden_act": "silu",
  "tie_word_embeddings": true,
  "rms_norm_eps": 1e-06,
  "max_position_embeddings": 4096,
  "rope_theta": 500000.0,
  "rope_scaling": {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192
  },
  "attention_bias": false,
  "mlp_bias": false,
  "torch_dtype": "bfloat16"
}
)");
}

TEST_CASE("config.json: there is none for a family that is not trained", "[train_files]") {
    CHECK_THROWS_AS(hf_config_text(read_model("gpt2")), InternalError);
}

// Which sentence does a family get that sluice knows and does not model?
#include "sim/specs/model/families/other_families.h"

#include "sim/specs/model/model_families.h"
#include "tests/sim/specs/model/small_config.h"

namespace sluice {
namespace {

struct Refused {
    const char* config;
    const char* sentence;  ///< a part of it
};

/// Heads of published config.json files, with what says which layers they have.
const Refused kRefused[] = {
    {R"({"model_type": "qwen3_next", "architectures": ["Qwen3NextForCausalLM"],
        "num_hidden_layers": 48, "full_attention_interval": 4, "num_experts": 512})",
     "model_type is \"qwen3_next\", which sluice does not model: it has gated delta nets in 36 of "
     "48 layers; plan with a model of about its size instead"},
    {R"({"model_type": "qwen3_5", "architectures": ["Qwen3_5ForConditionalGeneration"],
        "text_config": {"model_type": "qwen3_5_text", "num_hidden_layers": 4, "layer_types":
        ["linear_attention", "linear_attention", "linear_attention", "full_attention"]}})",
     "model_type is \"qwen3_5\", which sluice does not model: it has gated delta nets in 3 of 4 "
     "layers;"},
    {R"({"model_type": "qwen3_5_moe", "architectures": ["Qwen3_5MoeForConditionalGeneration"]})",
     "it has gated delta nets;"},
    {R"({"model_type": "kimi_linear", "num_hidden_layers": 27, "linear_attn_config":
        {"kda_layers": [1, 2, 3, 5, 6, 7], "full_attn_layers": [4, 8]}})",
     "it has Kimi delta attention in 6 of 27 layers;"},
    {R"({"model_type": "nemotron_h", "num_hidden_layers": 6, "hybrid_override_pattern": "M-M*ME"})",
     "it has Mamba layers in 3 of 6 layers;"},
    {R"({"model_type": "nemotron_h", "layers_block_type": ["linear_attention", "moe", "mlp"]})",
     "it has Mamba layers in 1 of 3 layers;"},
    {R"({"model_type": "falcon_h1", "num_hidden_layers": 36})",
     "it has Mamba layers beside attention in 36 of 36 layers;"},
    {R"({"model_type": "granitemoehybrid", "num_hidden_layers": 4,
        "layer_types": ["mamba", "mamba", "attention", "mamba"]})",
     "it has Mamba layers in 3 of 4 layers;"},
    {R"({"model_type": "granitemoehybrid", "num_hidden_layers": 4})", "it has Mamba layers;"},
    {R"({"model_type": "bamba", "num_hidden_layers": 32, "attn_layer_indices": [9, 18, 27]})",
     "it has Mamba layers in 29 of 32 layers;"},
    {R"({"model_type": "jamba", "num_hidden_layers": 32, "attn_layer_period": 8,
        "attn_layer_offset": 4})",
     "it has Mamba layers in 28 of 32 layers;"},
    {R"({"model_type": "lfm2", "num_hidden_layers": 16, "full_attn_idxs": [2, 5, 8, 10, 12, 14]})",
     "it has short convolutions in place of attention in 10 of 16 layers;"},
    {R"({"model_type": "deepseek_v32", "architectures": ["DeepseekV32ForCausalLM"]})",
     "its attention is sparse, with an indexer;"},
    {R"({"model_type": "deepseek_v4"})", "it has compressed attention and hyper-connections;"},
    {R"({"model_type": "gemma4", "architectures": ["Gemma4ForConditionalGeneration"]})",
     "its layers share keys and values, or take keys as values;"},
    {R"({"model_type": "gemma3n", "architectures": ["Gemma3nForConditionalGeneration"]})",
     "each layer has embeddings of its own;"},
    {R"({"model_type": "bailing_moe_v2", "architectures": ["BailingMoeV2ForCausalLM"]})",
     "its code is no part of transformers"},
};

}  // namespace

TEST_CASE("other families: the sentence names the kind of layer and how many have it", "[model]") {
    for (const Refused& refused : kRefused) {
        CAPTURE(refused.config);
        const std::string message = parse_error(refused.config);
        CHECK_THAT(message, ContainsSubstring("my/config.json: model_type is ") &&
                                ContainsSubstring(refused.sentence) &&
                                !ContainsSubstring("did you mean"));
    }
}

TEST_CASE("other families: each is refused, also inside a model of images and text", "[model]") {
    for (const OtherFamily& family : other_families()) {
        CAPTURE(family.model_type);
        CHECK(family_of_type(family.model_type) == nullptr);
        const std::string config = R"({"model_type": ")" + std::string(family.model_type) + "\"}";
        CHECK_THAT(parse_error(config), ContainsSubstring(family.has));
        CHECK_THAT(parse_error(R"({"model_type": "mistral3", "text_config": )" + config + "}"),
                   ContainsSubstring("my/config.json: text_config.model_type is ") &&
                       ContainsSubstring(family.has));
    }
}

}  // namespace sluice

// Which classes are read from a config.json, what may it leave out, and is each counted as
// transformers counts it?
#include "sim/specs/model/model_families.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/specs/model/read_model.h"
#include "tests/sim/specs/model/input_error_of.h"
#include "tests/sim/specs/model/small_config.h"

namespace sluice {
namespace {

struct CountedConfig {
    const char* model_type;
    const char* changes;  ///< of kSizes
    std::int64_t parameters;
};
constexpr const char* kSizes = R"({"hidden_size": 64, "num_attention_heads": 4,
    "num_hidden_layers": 3, "intermediate_size": 96, "vocab_size": 32064})";

/// Counted on the meta device by the language model of transformers 5.17.0, DeepSeek's with its
/// correction biases. Mixtral 8x22B and Qwen3-Coder-480B-A35B have their published sizes.
const CountedConfig kCounted[] = {
    {"llama", R"({"attention_bias": true, "mlp_bias": true, "num_key_value_heads": 1})", 4'191'904},
    {"llama", R"({"head_dim": 24, "tie_word_embeddings": true})", 2'181'568},
    {"qwen2", R"({"num_attention_heads": 32, "num_hidden_layers": 2})", 4'174'528},
    {"qwen3", R"({"num_attention_heads": 32, "attention_bias": true})", 7'343'488},
    {"mistral", R"({"num_attention_heads": 16, "head_dim": 8})", 4'233'664},
    {"phi3", R"({"num_key_value_heads": 2})", 4'196'800},
    {"gemma2", R"({"attention_bias": true})", 2'904'064},
    {"gemma2", R"({"head_dim": 16, "tie_word_embeddings": false})", 4'209'472},
    {"gemma3_text", R"({})", 2'896'192},
    {"gpt2",
     R"({"n_embd": 64, "n_head": 4, "n_layer": 3, "n_positions": 128, "vocab_size": 50257,
        "n_inner": 100})",
     3'314'348},
    {"gpt2",
     R"({"n_embd": 64, "n_head": 4, "n_layer": 3, "n_positions": 128, "vocab_size": 50257,
        "tie_word_embeddings": false})",
     6'591'168},
    {"mixtral",
     R"({"hidden_size": 6144, "intermediate_size": 16384, "num_hidden_layers": 56,
        "num_attention_heads": 48, "num_experts_per_tok": 2, "num_local_experts": 8,
        "vocab_size": 32000})",
     140'620'634'112},
    {"qwen3_moe",
     R"({"hidden_size": 6144, "head_dim": 128, "moe_intermediate_size": 2560,
        "intermediate_size": 8192, "num_hidden_layers": 62, "num_attention_heads": 96,
        "num_key_value_heads": 8, "num_experts": 160, "num_experts_per_tok": 8, "vocab_size":
        151936})",
     480'154'875'392},
    {"qwen3_moe",
     R"({"num_hidden_layers": 6, "attention_bias": true, "decoder_sparse_step": 2,
        "mlp_only_layers": [1], "num_experts": 8, "num_experts_per_tok": 2,
        "moe_intermediate_size": 24})",
     4'353'536},
    {"gpt_oss", R"({"num_attention_heads": 16, "num_local_experts": 8, "num_experts_per_tok": 2})",
     5'150'920},
    {"gpt_oss",
     R"({"num_attention_heads": 16, "num_local_experts": 8, "num_experts_per_tok": 2,
        "attention_bias": false})",
     5'144'584},
    {"deepseek_v3",
     R"({"num_hidden_layers": 5, "qk_rope_head_dim": 8, "qk_nope_head_dim": 16, "v_head_dim":
        16, "kv_lora_rank": 24, "moe_intermediate_size": 24, "n_routed_experts": 8,
        "num_experts_per_tok": 2, "num_key_value_heads": 4})",
     5'526'856},
    {"deepseek_v3",
     R"({"q_lora_rank": null, "n_shared_experts": 2, "first_k_dense_replace": 1,
        "qk_rope_head_dim": 8, "qk_nope_head_dim": 16, "v_head_dim": 16, "kv_lora_rank": 24,
        "moe_intermediate_size": 24, "n_routed_experts": 8, "num_experts_per_tok": 2,
        "num_key_value_heads": 4})",
     4'262'424},
};

}  // namespace

TEST_CASE("model families: parameters are those that transformers counts", "[model]") {
    for (const CountedConfig& counted : kCounted) {
        CAPTURE(counted.model_type, counted.changes);
        nlohmann::json config = nlohmann::json::parse(kSizes);
        config.update(nlohmann::json::parse(counted.changes));
        config["model_type"] = counted.model_type;
        CHECK(total_parameters(parse(config.dump())) == counted.parameters);
    }
    // A row for each family.
    for (const ModelFamily& family : model_families())
        CHECK(std::ranges::count(kCounted, family.model_type, &CountedConfig::model_type) > 0);
}

TEST_CASE("hf config: published Gemma 3 configs rely on defaults of transformers", "[model]") {
    // Counted by Gemma3ForCausalLM of transformers 5.17.0, from the text_config of each.
    const auto parameters = [](const std::string& sizes) {
        return total_parameters(
            parse(R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text",
                "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window": 1024,)" +
                  sizes + "}}"));
    };
    CHECK(parameters(R"("hidden_size": 2560, "intermediate_size": 10240,
                        "num_hidden_layers": 34)") == 3'880'263'168);
    CHECK(parameters(R"("hidden_size": 3840, "intermediate_size": 15360, "num_hidden_layers": 48,
                        "num_attention_heads": 16, "num_key_value_heads": 8)") == 11'766'034'176);
}

TEST_CASE("hf config: what contradicts itself or was misspelt is refused", "[model]") {
    const auto refused = [](const char* changes, const std::string& part) {
        CAPTURE(changes);
        CHECK_THAT(parse_error(llama_with(changes)), ContainsSubstring(part));
    };
    refused(R"({"num_key_value_heads": null, "num_key_value_head": 2})",
            "\"num_key_value_head\" is unknown; did you mean \"num_key_value_heads\"");
    refused(R"({"tie_word_embeddings": null, "tie_word_embedding": true})", "did you mean");
    refused(R"({"num_experts": 8})", "a model of type llama has no experts");
    refused(R"({"model_type": "qwen2", "num_local_experts": 8})", "num_local_experts is 8");
    refused(R"({"architectures": ["MixtralForCausalLM"]})", "model_type is \"llama\"");
    refused(R"({"model_type": "qwen3", "architectures": ["Qwen3MoeForCausalLM"]})",
            "architectures has \"Qwen3MoeForCausalLM\"");
    for (const char* right :
         {R"({"num_key_value_heads": null, "v_head_dim": 16})", R"({"num_experts": 1})",
          R"({"architectures": ["LlamaForCausalLM"]})", R"({"architectures": []})",
          R"({"draft_vocab_size": null, "use_bidirectional_attention": false})"})
        CHECK(parse(llama_with(right)).layer(0).feed_forward.experts == 0);
}

TEST_CASE("hf config: a key that is given twice is named", "[model]") {
    const std::string once = kLlama;
    CHECK_THAT(parse_error(once.substr(0, once.rfind('}')) + R"(, "hidden_size": 128})"),
               ContainsSubstring("\"hidden_size\" is given twice"));
    // Another object may have it, too.
    CHECK(parse(llama_with(R"({"a": {"hidden_size": 1}, "b": [{"a": 1}, {"a": 2}]})")).hidden ==
          64);
}

TEST_CASE("model families: newer families are not supported, whatever their class begins with",
          "[model]") {
    // Heads of published config.json files.
    for (const auto& [type, name] : {std::pair("deepseek_v32", "DeepseekV32ForCausalLM"),
                                     {"gemma3n", "Gemma3nForConditionalGeneration"},
                                     {"gemma4", "Gemma4ForConditionalGeneration"},
                                     {"glm_moe_dsa", "GlmMoeDsaForCausalLM"},
                                     {"llama4", "Llama4ForConditionalGeneration"},
                                     {"mistral3", "Mistral3ForConditionalGeneration"},
                                     {"phi3small", "Phi3SmallForCausalLM"},
                                     {"qwen2_moe", "Qwen2MoeForCausalLM"},
                                     {"qwen2_vl", "Qwen2VLForConditionalGeneration"},
                                     {"qwen3_next", "Qwen3NextForCausalLM"},
                                     {"qwen3_vl", "Qwen3VLForConditionalGeneration"},
                                     {"qwen3_5", "Qwen3_5ForConditionalGeneration"},
                                     {"qwen3_5_moe", "Qwen3_5MoeForConditionalGeneration"},
                                     {"minimax_m2", "MiniMaxM2ForCausalLM"}}) {
        CAPTURE(type);
        const std::string head = fmt::format(
            R"({{"model_type": "{}", "architectures": ["{}"], "num_experts": 512}})", type, name);
        CHECK_THAT(parse_error(head), ContainsSubstring(fmt::format(
                                          "my/config.json: model_type is \"{}\", a model type "
                                          "that is not supported; supported: llama, ",
                                          type)) &&
                                          !ContainsSubstring("did you mean"));
    }
    // Its class is that of DeepSeek V3.
    CHECK_THAT(
        parse_error(R"({"model_type": "kimi_k2", "architectures": ["DeepseekV3ForCausalLM"]})"),
        ContainsSubstring("\"kimi_k2\", a model type that is not supported") &&
            ContainsSubstring("did you mean \"deepseek_v3\"?"));
}

TEST_CASE("model families: classes with other tensors than the language model are named",
          "[model]") {
    for (const char* name :
         {"LlamaForSequenceClassification", "LlamaForTokenClassification", "LlamaForRewardModel",
          "LlamaForCausalLMEagle3", "LlamaModel", "OwnForCausalLM"}) {
        CAPTURE(name);
        CHECK_THAT(
            parse_error(llama_with(fmt::format(R"({{"architectures": ["{}"]}})", name).c_str())),
            ContainsSubstring(fmt::format("my/config.json: architectures has \"{}\"", name)) &&
                ContainsSubstring("expected \"LlamaForCausalLM\""));
    }
    CHECK_THAT(parse_error(R"({"model_type": "gemma3", "text_config": {},
                               "architectures": ["Gemma3ForSequenceClassification"]})"),
               ContainsSubstring("expected \"Gemma3ForConditionalGeneration\""));
    CHECK_THAT(
        parse_error(llama_with(R"({"architectures": "LlamaForCausalLM"})")),
        ContainsSubstring("architectures is \"LlamaForCausalLM\", expected a list of texts"));
    // Draft heads that call themselves a language model, and models that are not causal.
    CHECK_THAT(parse_error(llama_with(R"({"draft_vocab_size": 32000})")),
               ContainsSubstring("draft_vocab_size is 32000") && ContainsSubstring("draft head"));
    CHECK_THAT(parse_error(llama_with(
                   R"({"model_type": "gemma3_text", "use_bidirectional_attention": true})")),
               ContainsSubstring("use_bidirectional_attention is true"));
}

TEST_CASE("model families: numbers that Python writes and JSON has not are read", "[model]") {
    const std::string rest = R"({"time_step_limit": [0.0, Infinity, -Infinity], "note": "\"NaN\\",
                                 "dropout": NaN, )";
    const std::string llama = kLlama;
    CHECK(parse(rest + llama.substr(llama.find('"'))).hidden == 64);
    CHECK_THAT(parse_error(rest + R"("model_type": "nemotron_h"})"),
               ContainsSubstring("\"nemotron_h\", a model type that is not supported"));
    CHECK_THAT(parse_error(R"({"model_type": "llama", "hidden_size": Infinity})"),
               ContainsSubstring("hidden_size is Infinity, expected a whole number"));
    CHECK_THAT(parse_error(R"({"model_type": "llama", "hidden_size": Infinitely})"),
               ContainsSubstring("my/config.json: line 1: not valid JSON"));
}

}  // namespace sluice

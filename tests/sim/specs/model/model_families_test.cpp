// Which classes are read from a config.json, and what may it leave out?
#include "sim/specs/model/model_families.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/specs/model/read_model.h"
#include "tests/sim/specs/model/input_error_of.h"
#include "tests/sim/specs/model/small_config.h"

namespace sluice {
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

TEST_CASE("model families: unknown families are named, and are no misspelling of known ones",
          "[model]") {
    // Heads of config.json files.
    for (const auto& [type, name] : {std::pair("qwen2_vl", "Qwen2VLForConditionalGeneration"),
                                     {"qwen3_6", "Qwen3_6ForCausalLM"},
                                     {"llama5", "Llama5ForCausalLM"}}) {
        CAPTURE(type);
        const std::string head = fmt::format(
            R"({{"model_type": "{}", "architectures": ["{}"], "num_experts": 512}})", type, name);
        CHECK_THAT(parse_error(head), ContainsSubstring(fmt::format(
                                          "my/config.json: model_type is \"{}\", a model type "
                                          "that is not supported; supported: llama, ",
                                          type)) &&
                                          !ContainsSubstring("did you mean"));
    }
    // Who names a class of a known family has misspelt the type.
    CHECK_THAT(
        parse_error(R"({"model_type": "kimi_k9", "architectures": ["DeepseekV3ForCausalLM"]})"),
        ContainsSubstring("\"kimi_k9\", a model type that is not supported") &&
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
               ContainsSubstring("\"nemotron_h\", which sluice does not model"));
    CHECK_THAT(parse_error(R"({"model_type": "llama", "hidden_size": Infinity})"),
               ContainsSubstring("hidden_size is Infinity, expected a whole number"));
    CHECK_THAT(parse_error(R"({"model_type": "llama", "hidden_size": Infinitely})"),
               ContainsSubstring("my/config.json: line 1: not valid JSON"));
}

}  // namespace sluice

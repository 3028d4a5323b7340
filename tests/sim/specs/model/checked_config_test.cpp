// Which mistakes in a config.json would give a wrong model, and what may it leave out?
#include <nlohmann/json.hpp>

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
          R"({"architectures": ["LlamaForSequenceClassification", "OwnForCausalLM"]})"})
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

}  // namespace sluice

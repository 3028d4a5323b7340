// How is a Hugging Face config.json read, and which messages do mistakes give?
#include <nlohmann/json.hpp>

#include "sim/specs/model/read_model.h"
#include "tests/sim/specs/model/input_error_of.h"
#include "tests/sim/specs/model/small_config.h"

namespace sluice {
TEST_CASE("hf config: the smallest config is counted tensor by tensor", "[model]") {
    const ModelSpec model = parse(kLlama);
    // A layer: norms 2 x 64, qkv (4 + 2 x 2) x 16 x 64, output 64 x 64, feed-forward 3 x 128 x 64.
    CHECK(layer_parameters(model, model.layer(0)) == 128 + 8'192 + 4'096 + 24'576);
    CHECK(total_parameters(model) == 2 * 36'992 + 6'400 + 64);
    CHECK(model.family == "llama");
    CHECK(model.source == "my/config.json");
}

TEST_CASE("hf config: keys that a family may leave out have the family's defaults", "[model]") {
    // Llama: embeddings untied, as many key heads as heads.
    const ModelSpec llama =
        parse(llama_with(R"({"tie_word_embeddings": null, "num_key_value_heads": null})"));
    CHECK_FALSE(llama.tied_embeddings);
    CHECK(llama.layer(0).attention.kv_heads == 4);
    CHECK(llama.layer(0).attention.head_dim == 16);
    // Gemma: embeddings tied, four norms.
    const ModelSpec gemma =
        parse(llama_with(R"({"model_type": "gemma2", "tie_word_embeddings": null})"));
    CHECK(gemma.tied_embeddings);
    CHECK(gemma.layer(0).norms == 4);
}

TEST_CASE("hf config: biases are counted where the config or the family has them", "[model]") {
    const auto layer_of = [](const char* changes) {
        const ModelSpec model = parse(llama_with(changes));
        return layer_parameters(model, model.layer(0));
    };
    // qkv has 128 rows, output and down 64, gate and up 2 x 128.
    CHECK(layer_of(R"({"attention_bias": true})") == 36'992 + 128 + 64);
    CHECK(layer_of(R"({"mlp_bias": true})") == 36'992 + 256 + 64);
    CHECK(layer_of(R"({"model_type": "qwen2"})") == 36'992 + 128);
    CHECK(layer_of(R"({"model_type": "qwen3", "head_dim": 16})") ==
          36'992 + 2 * 16);  // norms of q and k
}

TEST_CASE("hf config: the config's own list of layer types wins over the pattern", "[model]") {
    const ModelSpec model = parse(llama_with(
        R"({"model_type": "gemma2", "sliding_window": 32,
            "layer_types": ["full_attention", "sliding_attention"]})"));
    CHECK(model.layer(0).attention.window == 0);
    CHECK(model.layer(1).attention.window == 32);
}

TEST_CASE("hf config: without a list or a pattern every sixth layer of Gemma 3 is full",
          "[model]") {
    const ModelSpec model = parse(llama_with(
        R"({"model_type": "gemma3_text", "num_hidden_layers": 12, "sliding_window": 32})"));
    for (int i = 0; i < 12; ++i) {
        CAPTURE(i);
        CHECK(model.layer(i).attention.window == (i == 5 || i == 11 ? 0 : 32));
    }
}

TEST_CASE("hf config: Qwen2 has no window unless it says that it uses it", "[model]") {
    CHECK(parse(llama_with(R"({"model_type": "qwen2", "sliding_window": 32})"))
              .layer(0)
              .attention.window == 0);
    // Used from layer max_window_layers on.
    const ModelSpec used = parse(llama_with(
        R"({"model_type": "qwen2", "sliding_window": 32, "use_sliding_window": true,
            "max_window_layers": 1})"));
    CHECK(used.layer(0).attention.window == 0);
    CHECK(used.layer(1).attention.window == 32);
}

TEST_CASE("hf config: Qwen3-MoE's mlp_only_layers are dense", "[model]") {
    const ModelSpec model = parse(llama_with(
        R"({"model_type": "qwen3_moe", "num_experts": 4, "num_experts_per_tok": 2,
            "moe_intermediate_size": 8, "mlp_only_layers": [0]})"));
    CHECK(model.layer(0).feed_forward.experts == 0);
    CHECK(model.layer(1).feed_forward.experts == 4);
}

TEST_CASE("hf config: a layer type that is not known is named", "[model]") {
    CHECK_THAT(
        input_error_of([] {
            parse(llama_with(
                R"({"model_type": "gemma2", "layer_types": ["full_attention", "chunked_attention"]})"));
        }),
        ContainsSubstring("layer_types") && ContainsSubstring("\"chunked_attention\"") &&
            ContainsSubstring("sliding_attention"));
}

TEST_CASE("hf config: a multimodal Gemma 3 is read through its text_config", "[model]") {
    const std::string decoder = llama_with(R"({"model_type": "gemma3_text"})");
    const ModelSpec model =
        parse(R"({"model_type": "gemma3", "vision_config": {}, "text_config": )" + decoder + "}");
    CHECK(model.family == "gemma3_text");
    CHECK(total_parameters(model) == total_parameters(parse(decoder)));
    CHECK_THAT(parse_error(R"({"model_type": "gemma3"})"),
               ContainsSubstring("my/config.json") && ContainsSubstring("text_config is missing"));
    // Errors inside name the whole path of keys.
    CHECK_THAT(parse_error(R"({"model_type": "gemma3", "text_config": )" +
                           llama_with(R"({"model_type": "gemma3_text", "hidden_size": -1})") + "}"),
               ContainsSubstring("my/config.json: text_config.hidden_size is -1"));
}

TEST_CASE("hf config: a model type that is not supported says which are", "[model]") {
    CHECK_THAT(parse_error(llama_with(R"({"model_type": "bloom"})")),
               ContainsSubstring("my/config.json: model_type") && ContainsSubstring("\"bloom\"") &&
                   ContainsSubstring("not supported") && ContainsSubstring("llama") &&
                   ContainsSubstring("deepseek_v3"));
    CHECK_THAT(parse_error(llama_with(R"({"model_type": "qwen4"})")),
               ContainsSubstring("\"qwen4\"") && ContainsSubstring("did you mean \"qwen"));
}

TEST_CASE("hf config: every mistake names the file, the field and the value", "[model]") {
    struct Mistake {
        const char* changes;
        std::vector<const char*> parts;
    };
    const std::vector<Mistake> mistakes = {
        // A field that is missing, of another type, negative, zero, a fraction or absurd.
        {R"({"hidden_size": null})", {"hidden_size is missing"}},
        {R"({"model_type": null})", {"model_type is missing"}},
        {R"({"model_type": 7})", {"model_type is 7", "text"}},
        {R"({"hidden_size": "64"})", {"hidden_size is \"64\"", "whole number"}},
        {R"({"hidden_size": [64]})", {"hidden_size is [64]", "whole number"}},
        {R"({"hidden_size": true})", {"hidden_size is true", "whole number"}},
        {R"({"num_hidden_layers": -2})", {"num_hidden_layers is -2", "from 1"}},
        {R"({"num_hidden_layers": 0})", {"num_hidden_layers is 0", "from 1"}},
        {R"({"num_hidden_layers": 2.5})", {"num_hidden_layers is 2.5", "whole number"}},
        {R"({"vocab_size": 1e300})", {"vocab_size is 1e+300", "to 10000000"}},
        {R"({"intermediate_size": 9223372036854775807})",
         {"intermediate_size is 9223372036854775807", "to 1000000"}},
        {R"({"num_key_value_heads": 0})", {"num_key_value_heads is 0"}},
        {R"({"max_position_embeddings": -1})", {"max_position_embeddings is -1"}},
        {R"({"tie_word_embeddings": "yes"})", {"tie_word_embeddings is \"yes\"", "true or false"}},
        {R"({"attention_bias": 1})", {"attention_bias is 1", "true or false"}},
        // Heads that do not divide.
        {R"({"num_key_value_heads": 3})",
         {"num_key_value_heads is 3", "divisor of num_attention_heads (4)"}},
        {R"({"hidden_size": 66})", {"hidden_size is 66", "num_attention_heads (4)", "head_dim"}},
        {R"({"head_dim": 0})", {"head_dim is 0"}},
        // Layer types.
        {R"({"model_type": "gemma2", "layer_types": ["full_attention"]})",
         {"layer_types has 1 entries", "num_hidden_layers (2)"}},
        {R"({"model_type": "gemma2", "layer_types": "full_attention"})",
         {"layer_types is \"full_attention\"", "list of texts"}},
        {R"({"model_type": "gemma2", "layer_types": [1, 2]})", {"layer_types is [1,2]"}},
        {R"({"model_type": "gemma2", "sliding_window": -4096})", {"sliding_window is -4096"}},
        // Experts.
        {R"({"model_type": "mixtral"})", {"num_local_experts is missing"}},
        {R"({"model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 9})",
         {"num_experts_per_tok is 9", "to 8"}},
        {R"({"model_type": "qwen3_moe"})", {"moe_intermediate_size is missing"}},
        {R"({"model_type": "deepseek_v3"})", {"qk_rope_head_dim is missing"}},
        {R"({"model_type": "gpt2"})", {"n_embd is missing"}},
        {R"({"model_type": "gpt2", "n_embd": 64, "n_head": 5, "n_positions": 8, "n_layer": 1})",
         {"n_embd is 64", "n_head (5)"}},
        {R"({"_sluice": "text"})", {"_sluice is \"text\"", "object"}},
    };
    for (const Mistake& mistake : mistakes) {
        CAPTURE(mistake.changes);
        const std::string message = parse_error(llama_with(mistake.changes));
        CHECK_THAT(message, ContainsSubstring("my/config.json: "));
        for (const char* part : mistake.parts) CHECK_THAT(message, ContainsSubstring(part));
    }
}

TEST_CASE("hf config: a head_dim of its own need not divide the hidden size", "[model]") {
    CHECK(parse(llama_with(R"({"hidden_size": 66, "head_dim": 16})")).hidden == 66);
}

TEST_CASE("hf config: a mistyped required key suggests itself", "[model]") {
    CHECK_THAT(parse_error(llama_with(R"({"hidden_size": null, "hiden_size": 64})")),
               ContainsSubstring("hidden_size is missing") &&
                   ContainsSubstring("did you mean \"hiden_size\"?"));
}

TEST_CASE("hf config: a config cut anywhere names the file and the line", "[model]") {
    const std::string whole = kLlama;
    for (std::size_t length = 0; length < whole.size(); ++length) {
        CAPTURE(length);
        const std::string cut = whole.substr(0, length);
        const auto line = 1 + std::count(cut.begin(), cut.end(), '\n');
        CHECK_THAT(parse_error(cut),
                   ContainsSubstring("my/config.json: line " + std::to_string(line) + ":") &&
                       ContainsSubstring("truncated"));
    }
}

TEST_CASE("hf config: a stray character names the line it stands on", "[model]") {
    std::string text = kLlama;
    text.insert(text.find("\"vocab_size\""), "; ");
    CHECK_THAT(parse_error(text),
               ContainsSubstring("my/config.json: line 8:") && ContainsSubstring("not valid JSON"));
}

TEST_CASE("hf config: deep nesting is refused, wherever it is hidden", "[model]") {
    const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
    CHECK_THAT(parse_error(deep),
               ContainsSubstring("my/config.json") && ContainsSubstring("nested"));
    // Closing brackets in a text must not count against the opening ones behind it.
    std::string hidden = R"({"note": "", "model_type": )";
    hidden.insert(hidden.find("\","), std::string(100'000, ']'));
    hidden += deep + "}";
    CHECK_THAT(parse_error(hidden),
               ContainsSubstring("my/config.json") && ContainsSubstring("nested"));
    // And opening ones in a text are no nesting.
    CHECK(parse(llama_with(
                    R"({"note": "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["})"))
              .hidden == 64);
}

TEST_CASE("hf config: a long value is shown shortened, on one line", "[model]") {
    nlohmann::json config = nlohmann::json::parse(kLlama);
    config["hidden_size"] = std::string(5'000, 'x') + "\n";
    const std::string message = parse_error(config.dump());
    CHECK_THAT(message, ContainsSubstring("my/config.json: hidden_size is \"xxxxx"));
    CHECK(message.size() < 300);
    CHECK(message.find('\n') == std::string::npos);
}

TEST_CASE("hf config: a model too large to count is refused", "[model]") {
    // Each field is within its range; the product overflows 64 bits.
    CHECK_THAT(parse_error(llama_with(
                   R"({"num_hidden_layers": 10000, "hidden_size": 1000000, "head_dim": 1000000,
                       "num_attention_heads": 1000000})")),
               ContainsSubstring("my/config.json") && ContainsSubstring("parameters"));
}

}  // namespace sluice

// Which layers see a window of the sequence, and are contradictions refused?
#include "sim/specs/model/read_model.h"
#include "tests/sim/specs/model/input_error_of.h"
#include "tests/sim/specs/model/small_config.h"

namespace sluice {
namespace {

std::vector<std::int64_t> windows(const char* changes) {
    const ModelSpec model = parse(llama_with(changes));
    std::vector<std::int64_t> out;
    for (int i = 0; i < model.layer_count(); ++i) out.push_back(model.layer(i).attention.window);
    return out;
}

using Windows = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("layer windows: the config's own list of types wins", "[model]") {
    for (const char* type : {"qwen2", "qwen3"}) {
        CAPTURE(type);
        const std::string config = std::string(R"({"model_type": ")") + type + R"(",
            "head_dim": 16, "num_hidden_layers": 3, "use_sliding_window": true,
            "sliding_window": 32, "max_window_layers": 28,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]})";
        CHECK(windows(config.c_str()) == Windows{32, 0, 32});
    }
    // transformers takes a Mistral with a list as a Ministral, which has the same tensors.
    CHECK(windows(R"({"model_type": "mistral", "sliding_window": 32,
                      "layer_types": ["full_attention", "sliding_attention"]})") == Windows{0, 32});
    CHECK(windows(R"({"model_type": "mistral", "sliding_window": null,
                      "layer_types": ["full_attention", "full_attention"]})") == Windows{0, 0});
}

TEST_CASE("layer windows: Qwen's is 4096 if it uses one and does not say which", "[model]") {
    CHECK(windows(R"({"model_type": "qwen2", "use_sliding_window": true,
                      "max_window_layers": 1})") == Windows{0, 4096});
    // All layers of a Qwen3-MoE have it.
    const char* const sparse = R"({"model_type": "qwen3_moe", "use_sliding_window": true,
        "sliding_window": 32, "num_experts": 4, "num_experts_per_tok": 2,
        "moe_intermediate_size": 8})";
    CHECK(windows(sparse) == Windows{32, 32});
}

TEST_CASE("layer windows: a list that the model does not follow is refused", "[model]") {
    const auto refused = [](const char* changes, const char* part) {
        CAPTURE(changes);
        CHECK_THAT(parse_error(llama_with(changes)),
                   ContainsSubstring("my/config.json: layer_types has") && ContainsSubstring(part));
    };
    // transformers finds no window in the first and fails in its first step.
    refused(R"({"model_type": "qwen3", "sliding_window": 32, "head_dim": 16,
                "layer_types": ["full_attention", "sliding_attention"]})",
            "no window is set; give sliding_window (for Qwen also use_sliding_window)");
    refused(R"({"layer_types": ["full_attention", "sliding_attention"]})",
            "all layers of this llama model have full_attention");
    refused(R"({"model_type": "phi3", "sliding_window": 32,
                "layer_types": ["full_attention", "full_attention"]})",
            "all layers of this phi3 model have sliding_attention");
    refused(R"({"layer_types": ["full_attention"]})", "1 entries, expected num_hidden_layers (2)");
    CHECK(windows(R"({"layer_types": ["full_attention", "full_attention"]})") == Windows{0, 0});
}

}  // namespace sluice

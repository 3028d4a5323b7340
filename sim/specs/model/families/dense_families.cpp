// Dense families that only the planner reads, one function each. It also knows what the config.json
// does not say. The facts are those of transformers 5.17.0.
#include <array>

#include "sim/specs/model/families/family_groups.h"
#include "sim/specs/model/families/family_parts.h"
#include "sim/specs/model/layer_windows.h"

namespace sluice {
namespace {

/// Biases of attention and of the feed-forward under two keys, as Llama has them.
LayerSpec biased_layer(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    read_bias(config, layer.attention, false);
    layer.feed_forward.bias = config.boolean_or("mlp_bias", false);
    return layer;
}

/// Biases of all matrices under one key.
LayerSpec layer_with_use_bias(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    layer.attention.qkv_bias = layer.attention.output_bias = layer.feed_forward.bias =
        config.boolean_or("use_bias", false);
    return layer;
}

void read_apertus(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    read_bias(config, layer.attention, false);
    layer.attention.qk_norm = true;
    layer.feed_forward.gated = false;
    layer.feed_forward.activation_parameters = 2;  // alpha_p and alpha_n of xIELU
    append_alike(config, model, layer);
}

void read_arcee(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = biased_layer(config, model);
    layer.feed_forward.gated = false;
    append_alike(config, model, layer);
}

void read_cohere(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    read_bias(config, layer.attention, false);
    layer.norms = 1;
    layer.attention.qk_norm = layer.attention.qk_norm_of_all_heads =
        config.boolean_or("use_qk_norm", false);
    append_alike(config, model, layer);
}

/// Layers with a window see positions, the full ones none.
void append_with_positions_in_windows(const JsonObject& config, ModelSpec& model, LayerSpec layer,
                                      const std::vector<bool>& windowed, bool positions_in_all) {
    const std::int64_t window = read_window(config);
    for (const bool has_window : windowed) {
        layer.attention.window = has_window ? window : 0;
        layer.attention.rotary = has_window || positions_in_all;
        append_layers(model, layer, 1);
    }
}

void read_cohere2(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    read_bias(config, layer.attention, false);
    layer.norms = 1;
    const std::int64_t full_every = config.integer_or("sliding_window_pattern", 4, 1, kMostLayers);
    const auto has_window = [&](std::int64_t i) { return (i + 1) % full_every != 0; };
    append_with_positions_in_windows(
        config, model, layer, windowed_layers(config, read_window(config), has_window), false);
}

void read_cwm(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    layer.feed_forward.bias = config.boolean_or("mlp_bias", false);
    append_windowed(config, model, layer, read_window(config),
                    [](std::int64_t i) { return i % 4 != 0; });
}

void read_ernie(const JsonObject& config, ModelSpec& model) {
    append_alike(config, model, layer_with_use_bias(config, model));
}

void read_exaone4(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    layer.norms_behind = true;
    layer.attention.qk_norm = true;
    const std::int64_t full_every =
        config.has("layer_types") ? 1
                                  : config.integer_or("sliding_window_pattern", 4, 1, kMostLayers);
    const std::int64_t window = read_window(config);
    const auto has_window = [&](std::int64_t i) { return (i + 1) % full_every != 0; };
    append_with_positions_in_windows(config, model, layer,
                                     windowed_layers(config, window, has_window), window == 0);
}

void read_gemma(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    read_bias(config, layer.attention, false);
    append_alike(config, model, layer);
}

void read_glm(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    layer.attention.qkv_bias = config.boolean_or("attention_bias", true);
    append_alike(config, model, layer);
}

void read_glm4(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    layer.attention.qkv_bias = config.boolean_or("attention_bias", true);
    layer.norms = 4;
    append_alike(config, model, layer);
}

void read_granite(const JsonObject& config, ModelSpec& model) {
    append_alike(config, model, biased_layer(config, model));
}

void read_hunyuan(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    read_bias(config, layer.attention, false);
    layer.attention.qk_norm = true;
    append_alike(config, model, layer);
}

void read_ministral3(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    layer.attention.window = read_window(config);
    append_alike(config, model, layer);
}

void read_nemotron(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = biased_layer(config, model);
    layer.feed_forward.gated = false;
    layer.norm_bias = model.norm_bias = true;
    append_alike(config, model, layer);
}

LayerSpec olmo2_layer(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    read_bias(config, layer.attention, false);
    layer.norms_behind = true;
    layer.attention.qk_norm = layer.attention.qk_norm_of_all_heads = true;
    return layer;
}

void read_olmo2(const JsonObject& config, ModelSpec& model) {
    append_alike(config, model, olmo2_layer(config, model));
}

void read_olmo3(const JsonObject& config, ModelSpec& model) {
    append_sliding_pattern(config, model, olmo2_layer(config, model), 4);
}

void read_seed_oss(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    layer.attention.qkv_bias = config.boolean_or("attention_bias", true);
    layer.attention.output_bias = config.boolean_or("attention_out_bias", false);
    layer.feed_forward.bias = config.boolean_or("mlp_bias", false);
    append_alike(config, model, layer);
}

void read_smollm3(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = biased_layer(config, model);
    const std::vector<bool> rotary = layers_with_positions(config);
    const std::int64_t window = used_window(config);
    const std::vector<bool> windowed = windowed_layers(
        config, window, [&](std::int64_t i) { return !rotary[static_cast<std::size_t>(i)]; });
    for (std::size_t i = 0; i < rotary.size(); ++i) {
        layer.attention.rotary = rotary[i];
        layer.attention.window = windowed[i] ? window : 0;
        append_layers(model, layer, 1);
    }
}

void read_starcoder2(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = layer_with_use_bias(config, model);
    layer.feed_forward.gated = false;
    layer.norm_bias = model.norm_bias = true;
    layer.attention.window = read_window(config);
    append_alike(config, model, layer);
}

constexpr const char* kUngated = "feed-forward without a gate";
constexpr const char* kParallel = "attention and feed-forward side by side";
constexpr const char* kNormsBehind = "norms behind attention and feed-forward";
constexpr const char* kPartlyWithoutPositions = "layers without positions";

constexpr std::array kDenseFamilies = {
    ModelFamily{.model_type = "apertus",
                .architecture = "ApertusForCausalLM",
                .read = read_apertus,
                .not_trained = "xIELU as activation"},
    ModelFamily{.model_type = "arcee",
                .architecture = "ArceeForCausalLM",
                .read = read_arcee,
                .not_trained = kUngated},
    ModelFamily{.model_type = "cohere",
                .architecture = "CohereForCausalLM",
                .read = read_cohere,
                .defaults = R"({"tie_word_embeddings": true})",
                .not_trained = kParallel},
    ModelFamily{.model_type = "cohere2",
                .architecture = "Cohere2ForCausalLM",
                .read = read_cohere2,
                .defaults = R"({"tie_word_embeddings": true, "sliding_window": 4096})",
                .not_trained = kParallel},
    ModelFamily{.model_type = "cwm",
                .architecture = "CwmForCausalLM",
                .read = read_cwm,
                .defaults = R"({"num_key_value_heads": 8, "head_dim": 128,
                                "sliding_window": 8192})",
                .not_trained = "reader of checkpoints of cwm"},
    ModelFamily{.model_type = "ernie4_5",
                .architecture = "Ernie4_5ForCausalLM",
                .read = read_ernie,
                .defaults = R"({"tie_word_embeddings": true, "num_key_value_heads": 2,
                                "head_dim": 128})",
                .not_trained = "positions that turn neighbouring numbers"},
    ModelFamily{.model_type = "exaone4",
                .architecture = "Exaone4ForCausalLM",
                .read = read_exaone4,
                .defaults = R"({"num_key_value_heads": 32, "sliding_window": 4096})",
                .not_trained = kNormsBehind},
    ModelFamily{.model_type = "gemma",
                .architecture = "GemmaForCausalLM",
                .read = read_gemma,
                .defaults = R"({"tie_word_embeddings": true, "num_key_value_heads": 16,
                                "head_dim": 256})",
                .not_trained = "norms that add 1 to their weights"},
    ModelFamily{.model_type = "glm",
                .architecture = "GlmForCausalLM",
                .read = read_glm,
                .defaults = R"({"num_key_value_heads": 2, "head_dim": 128})",
                .not_trained = "positions in a part of each head"},
    ModelFamily{.model_type = "glm4",
                .architecture = "Glm4ForCausalLM",
                .read = read_glm4,
                .defaults = R"({"num_key_value_heads": 2, "head_dim": 128})",
                .not_trained = "norms but two RMSNorms a layer"},
    ModelFamily{.model_type = "granite",
                .architecture = "GraniteForCausalLM",
                .read = read_granite,
                .not_trained = "multipliers of embedding, attention, residual and logits"},
    ModelFamily{.model_type = "hunyuan_v1_dense",
                .architecture = "HunYuanDenseV1ForCausalLM",
                .read = read_hunyuan,
                .not_trained = "norms of queries and keys behind their positions"},
    ModelFamily{.model_type = "ministral3",
                .architecture = "Ministral3ForCausalLM",
                .read = read_ministral3,
                .defaults = R"({"num_key_value_heads": 8, "head_dim": 128})",
                .not_trained = "queries scaled by their position"},
    ModelFamily{.model_type = "nemotron",
                .architecture = "NemotronForCausalLM",
                .read = read_nemotron,
                .not_trained = kUngated},
    ModelFamily{.model_type = "olmo2",
                .architecture = "Olmo2ForCausalLM",
                .read = read_olmo2,
                .not_trained = kNormsBehind},
    ModelFamily{.model_type = "olmo3",
                .architecture = "Olmo3ForCausalLM",
                .read = read_olmo3,
                .defaults = R"({"sliding_window": 4096})",
                .not_trained = kNormsBehind},
    ModelFamily{.model_type = "seed_oss",
                .architecture = "SeedOssForCausalLM",
                .read = read_seed_oss,
                .defaults = R"({"num_key_value_heads": 8, "head_dim": 128})",
                .not_trained = "reader of checkpoints of seed_oss"},
    ModelFamily{.model_type = "smollm3",
                .architecture = "SmolLM3ForCausalLM",
                .read = read_smollm3,
                .defaults = R"({"tie_word_embeddings": true, "num_key_value_heads": 4})",
                .not_trained = kPartlyWithoutPositions},
    ModelFamily{.model_type = "starcoder2",
                .architecture = "Starcoder2ForCausalLM",
                .read = read_starcoder2,
                .defaults = R"({"tie_word_embeddings": true, "num_key_value_heads": 2,
                                "use_bias": true})",
                .not_trained = kUngated},
};

}  // namespace

std::span<const ModelFamily> dense_families() { return kDenseFamilies; }

}  // namespace sluice

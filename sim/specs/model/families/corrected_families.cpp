// Families with experts whose routing a bias corrects (arXiv 2408.15664), one function each. The
// facts are those of transformers 5.17.0.
#include <array>
#include <utility>

#include "sim/specs/model/families/family_groups.h"
#include "sim/specs/model/families/family_parts.h"
#include "sim/specs/model/layer_windows.h"

namespace sluice {
namespace {

/// Layers with a window see positions, and the full ones only if no layer has a window.
std::function<void(std::int64_t, LayerSpec&)> positions_in_windows(std::vector<bool> windowed,
                                                                   std::int64_t window) {
    return [windowed = std::move(windowed), window](std::int64_t i, LayerSpec& layer) {
        const bool has_window = windowed[static_cast<std::size_t>(i)];
        layer.attention.window = has_window ? window : 0;
        layer.attention.rotary = has_window || window == 0;
    };
}

void read_afmoe(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    read_bias(config, layer.attention, false);
    layer.norms = 4;
    layer.attention.qk_norm = true;
    layer.attention.gate_width = layer.attention.query_width();
    FeedForwardSpec experts = expert_feed_forward(config, "num_experts");
    experts.shared_intermediate =
        experts.intermediate * config.integer_or("num_shared_experts", 0, 0, kMostExperts);
    experts.router_bias = true;  // expert_bias
    const std::int64_t dense = config.integer_or("num_dense_layers", 0, 0, kMostLayers);
    const std::int64_t full_every =
        config.integer_or("global_attn_every_n_layers", 4, 1, kMostLayers);
    const std::int64_t window = read_window(config);
    append_mixed(config, model, layer, experts,
                 sparse_layers(config, [&](std::int64_t i) { return i >= dense; }),
                 positions_in_windows(
                     windowed_layers(config, window,
                                     [&](std::int64_t i) { return (i + 1) % full_every != 0; }),
                     window));
}

void read_dots1(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    read_bias(config, layer.attention, false);
    layer.attention.qk_norm = true;
    const std::int64_t window = read_window(config);
    const std::int64_t full = config.integer_or("max_window_layers", 62, 0, kMostLayers);
    const std::vector<bool> windowed =
        windowed_layers(config, window, [&](std::int64_t i) { return i >= full; });
    append_mixed(config, model, layer, corrected_experts(config), sparse_after_first(config),
                 [&](std::int64_t i, LayerSpec& one) {
                     one.attention.window = windowed[static_cast<std::size_t>(i)] ? window : 0;
                 });
}

void read_ernie_moe(const JsonObject& config, ModelSpec& model) {
    refuse_if_true(config, "use_bias", "biases of a model with experts");
    const LayerSpec dense = dense_layer(config, model);
    refuse_other_types(config, dense.attention);
    FeedForwardSpec experts;
    experts.intermediate = config.integer("moe_intermediate_size", 1, kWidest);
    read_experts(config, experts, "moe_num_experts", "moe_k");
    experts.shared_intermediate =
        experts.intermediate * config.integer_or("moe_num_shared_experts", 0, 0, kMostExperts);
    experts.router_bias = true;  // e_score_correction_bias
    const std::int64_t first = config.integer_or("moe_layer_start_index", 1, 0, kMostLayers);
    const std::int64_t end = config.integer_or("moe_layer_end_index", -1, -1, kMostLayers);
    const std::int64_t last = end == -1 ? layer_total(config) - 1 : end;
    const std::int64_t every = config.integer_or("moe_layer_interval", 1, 1, kMostLayers);
    append_mixed(config, model, dense, experts, sparse_layers(config, [&](std::int64_t i) {
                     return (i + 1) % every == 0 && i >= first && i <= last;
                 }));
}

void read_exaone_moe(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    layer.attention.qk_norm = true;
    FeedForwardSpec experts = expert_feed_forward(config, "num_experts");
    experts.shared_intermediate =
        experts.intermediate * config.integer_or("num_shared_experts", 0, 0, kMostExperts);
    experts.router_bias = true;  // e_score_correction_bias
    const std::int64_t full_every =
        config.has("layer_types") ? 1
                                  : config.integer_or("sliding_window_pattern", 4, 1, kMostLayers);
    const std::int64_t window = read_window(config);
    append_mixed(config, model, layer, experts, sparse_after_first(config),
                 positions_in_windows(
                     windowed_layers(config, window,
                                     [&](std::int64_t i) { return (i + 1) % full_every != 0; }),
                     window));
}

void read_glm4_moe(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    refuse_other_types(config, layer.attention);
    layer.attention.qkv_bias = config.boolean_or("attention_bias", false);
    layer.attention.qk_norm = config.boolean_or("use_qk_norm", false);
    append_mixed(config, model, layer, corrected_experts(config), sparse_after_first(config));
}

void read_hy_v3(const JsonObject& config, ModelSpec& model) {
    refuse_if_true(config, "mlp_bias", "biases of a model with experts");
    LayerSpec layer = dense_layer(config, model);
    refuse_other_types(config, layer.attention);
    read_bias(config, layer.attention, false);
    layer.attention.qk_norm = true;
    FeedForwardSpec experts = expert_feed_forward(config, "num_experts");
    experts.shared_intermediate =
        experts.intermediate * config.integer_or("num_shared_experts", 0, 0, kMostExperts);
    experts.router_bias = true;  // e_score_correction_bias
    append_mixed(config, model, layer, experts,
                 sparse_layers(config, [](std::int64_t i) { return i > 0; }));
}

/// Layers with a window have twice the heads of keys and values, and sinks.
void read_mimo(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    layer.attention.qkv_bias = config.boolean_or("attention_bias", false);
    layer.attention.value_dim = config.integer("v_head_dim", 1, kWidest);
    FeedForwardSpec experts = corrected_experts(config);
    experts.shared_intermediate = 0;
    const std::int64_t window = read_window(config);
    const std::vector<bool> windowed =
        windowed_layers(config, window, [](std::int64_t i) { return i > 0 && (i + 1) % 6 != 0; });
    append_mixed(config, model, layer, experts,
                 sparse_layers(config, [](std::int64_t i) { return i > 0; }),
                 [&](std::int64_t i, LayerSpec& one) {
                     if (!windowed[static_cast<std::size_t>(i)]) return;
                     one.attention.window = window;
                     one.attention.kv_heads *= 2;
                     one.attention.sinks = true;
                 });
}

void read_minimax_m2(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = layer_of_experts(config, model, "num_local_experts");
    layer.attention.qk_norm = layer.attention.qk_norm_of_all_heads = true;
    layer.feed_forward.router_bias = true;  // e_score_correction_bias
    append_alike(config, model, layer);
}

void read_solar_open(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer;
    read_common(config, model, false);
    layer.attention = read_attention(config, model);
    layer.attention.qkv_bias = config.boolean_or("attention_bias", false);
    layer.feed_forward = corrected_experts(config);
    append_alike(config, model, layer);
}

constexpr const char* kCorrected = "routing with a correction bias";

constexpr std::array kCorrectedFamilies = {
    ModelFamily{.model_type = "afmoe",
                .architecture = "AfmoeForCausalLM",
                .read = read_afmoe,
                .defaults = R"({"head_dim": 128, "num_dense_layers": 1, "num_shared_experts": 2,
                                "sliding_window": 1024})",
                .has_experts = true,
                .not_trained = "gate on the attention output"},
    ModelFamily{.model_type = "dots1",
                .architecture = "Dots1ForCausalLM",
                .read = read_dots1,
                .defaults = R"({"num_key_value_heads": 32, "sliding_window": 4096})",
                .has_experts = true,
                .not_trained = kCorrected},
    ModelFamily{.model_type = "ernie4_5_moe",
                .architecture = "Ernie4_5_MoeForCausalLM",
                .read = read_ernie_moe,
                .defaults = R"({"tie_word_embeddings": true, "num_key_value_heads": 4,
                                "moe_num_shared_experts": 2})",
                .has_experts = true,
                .not_trained = kCorrected},
    ModelFamily{.model_type = "exaone_moe",
                .architecture = "ExaoneMoeForCausalLM",
                .read = read_exaone_moe,
                .defaults = R"({"num_key_value_heads": 32, "sliding_window": 4096,
                                "num_shared_experts": 1, "first_k_dense_replace": 1})",
                .has_experts = true,
                .not_trained = kCorrected},
    ModelFamily{.model_type = "glm4_moe",
                .architecture = "Glm4MoeForCausalLM",
                .read = read_glm4_moe,
                .defaults = R"({"num_key_value_heads": 8, "n_shared_experts": 1,
                                "first_k_dense_replace": 1})",
                .has_experts = true,
                .not_trained = kCorrected},
    // In a model of images and text.
    ModelFamily{.model_type = "glm4v_moe_text",
                .architecture = "Glm4vMoeTextModel",
                .read = read_glm4_moe,
                .defaults = R"({"num_key_value_heads": 8, "n_shared_experts": 1,
                                "attention_bias": true, "first_k_dense_replace": 1})",
                .has_experts = true,
                .not_trained = kCorrected},
    ModelFamily{.model_type = "hy_v3",
                .architecture = "HYV3ForCausalLM",
                .read = read_hy_v3,
                .defaults = R"({"num_key_value_heads": 8, "head_dim": 128,
                                "num_shared_experts": 1})",
                .has_experts = true,
                .not_trained = kCorrected},
    ModelFamily{.model_type = "mimo_v2_flash",
                .architecture = "MiMoV2FlashForCausalLM",
                .read = read_mimo,
                .defaults = R"({"num_key_value_heads": 4, "head_dim": 192, "v_head_dim": 128,
                                "sliding_window": 128})",
                .has_experts = true,
                .not_trained = "attention with values wider or narrower than keys"},
    ModelFamily{.model_type = "minimax_m2",
                .architecture = "MiniMaxM2ForCausalLM",
                .read = read_minimax_m2,
                .defaults = R"({"num_key_value_heads": 8, "head_dim": 128})",
                .has_experts = true,
                .not_trained = kCorrected},
    ModelFamily{.model_type = "solar_open",
                .architecture = "SolarOpenForCausalLM",
                .read = read_solar_open,
                .defaults = R"({"num_key_value_heads": 8, "head_dim": 128,
                                "n_shared_experts": 1})",
                .has_experts = true,
                .not_trained = kCorrected},
};

}  // namespace

std::span<const ModelFamily> corrected_families() { return kCorrectedFamilies; }

}  // namespace sluice

// Families with experts that only the planner reads, one function each. It also knows what the
// config.json does not say. The facts are those of transformers 5.17.0.
#include <algorithm>
#include <array>

#include "sim/specs/model/families/family_groups.h"
#include "sim/specs/model/families/family_parts.h"
#include "sim/specs/model/families/other_families.h"
#include "sim/specs/model/layer_windows.h"

namespace sluice {
namespace {

void read_granite_moe(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = layer_of_experts(config, model, "num_local_experts");
    read_bias(config, layer.attention, false);
    layer.feed_forward.shared_intermediate =
        config.integer_or("shared_intermediate_size", 0, 0, kWidest);
    append_alike(config, model, layer);
}

/// Without experts, what is shared is all.
void read_granite_hybrid(const JsonObject& config, ModelSpec& model) {
    refuse_other_layers(config, "it has Mamba layers");
    LayerSpec layer = dense_layer(config, model);
    read_bias(config, layer.attention, false);
    layer.attention.rotary = config.text_or("position_embedding_type", "nope") == "rope";
    const std::int64_t shared = config.integer("shared_intermediate_size", 1, kWidest);
    if (config.integer_or("num_local_experts", 0, 0, kMostExperts) > 0) {
        read_experts(config, layer.feed_forward, "num_local_experts");
        layer.feed_forward.shared_intermediate = shared;
    } else {
        layer.feed_forward.intermediate = shared;
    }
    append_layers(model, layer, layer_total(config));
}

void read_hunyuan_moe(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    read_bias(config, layer.attention, false);
    layer.attention.qk_norm = true;
    read_experts(config, layer.feed_forward, "num_experts", "moe_topk");
    layer.feed_forward.shared_intermediate = layer.feed_forward.intermediate;
    append_alike(config, model, layer);
}

/// intermediate_size is the width of an expert. Chunks of the sequence are counted as windows.
void read_llama4(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    read_bias(config, layer.attention, false);
    FeedForwardSpec experts = layer.feed_forward;
    read_experts(config, experts, "num_local_experts");
    experts.shared_intermediate = experts.intermediate;
    layer.feed_forward.intermediate = config.integer("intermediate_size_mlp", 1, kWidest);
    const std::int64_t every = config.integer_or("interleave_moe_layer_step", 1, 1, kMostLayers);
    std::vector<std::int64_t> listed;
    if (config.has("moe_layers")) listed = config.integers("moe_layers", 0, kMostLayers);
    const auto is_sparse = [&](std::int64_t i) {
        return config.has("moe_layers") ? std::ranges::count(listed, i) > 0 : (i + 1) % every == 0;
    };
    const std::int64_t chunk = config.integer_or("attention_chunk_size", 0, 1, kLongest);
    const std::vector<bool> rotary = layers_with_positions(config);
    append_mixed(config, model, layer, experts, sparse_layers(config, is_sparse),
                 [&](std::int64_t i, LayerSpec& one) {
                     one.attention.rotary = rotary[static_cast<std::size_t>(i)];
                     one.attention.window = one.attention.rotary ? chunk : 0;
                 });
    if (chunk > 0) model.note = "chunks of attention are counted as windows";
}

void read_olmoe(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = layer_of_experts(config, model, "num_experts");
    read_bias(config, layer.attention, false);
    layer.attention.qk_norm = layer.attention.qk_norm_of_all_heads = true;
    append_alike(config, model, layer);
}

void read_phimoe(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = layer_of_experts(config, model, "num_local_experts");
    read_bias(config, layer.attention, false);
    layer.norm_bias = model.norm_bias = true;
    model.head_bias = config.boolean_or("lm_head_bias", false);
    layer.attention.window = read_window(config);
    append_alike(config, model, layer);
}

void read_qwen2_moe(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    layer.attention.qkv_bias = config.boolean_or("qkv_bias", true);
    FeedForwardSpec experts = expert_feed_forward(config, "num_experts");
    experts.shared_intermediate = config.integer("shared_expert_intermediate_size", 1, kWidest);
    experts.shared_gate = true;
    const std::int64_t every = config.integer_or("decoder_sparse_step", 1, 1, kMostLayers);
    std::vector<std::int64_t> dense;
    if (config.has("mlp_only_layers")) dense = config.integers("mlp_only_layers", 0, kMostLayers);
    const std::int64_t window = used_window(config);
    const std::int64_t last = config.integer_or("max_window_layers", 28, 0, kMostLayers);
    const std::vector<bool> windowed = windowed_layers(
        config, window, [&](std::int64_t i) { return (i + 1) % 2 != 0 && i < last; });
    append_mixed(config, model, layer, experts,
                 sparse_layers(config,
                               [&](std::int64_t i) {
                                   return (i + 1) % every == 0 && std::ranges::count(dense, i) == 0;
                               }),
                 [&](std::int64_t i, LayerSpec& one) {
                     one.attention.window = windowed[static_cast<std::size_t>(i)] ? window : 0;
                 });
}

constexpr const char* kShared = "experts that all tokens share";
constexpr const char* kMultipliers = "multipliers of embedding, attention, residual and logits";

constexpr std::array kExpertFamilies = {
    ModelFamily{.model_type = "granitemoe",
                .architecture = "GraniteMoeForCausalLM",
                .read = read_granite_moe,
                .has_experts = true,
                .not_trained = kMultipliers},
    ModelFamily{.model_type = "granitemoeshared",
                .architecture = "GraniteMoeSharedForCausalLM",
                .read = read_granite_moe,
                .has_experts = true,
                .not_trained = kMultipliers},
    ModelFamily{.model_type = "granitemoehybrid",
                .architecture = "GraniteMoeHybridForCausalLM",
                .read = read_granite_hybrid,
                .defaults = R"({"num_local_experts": 8, "shared_intermediate_size": 1024})",
                .has_experts = true,
                .not_trained = kMultipliers},
    ModelFamily{.model_type = "hunyuan_v1_moe",
                .architecture = "HunYuanMoEV1ForCausalLM",
                .read = read_hunyuan_moe,
                .has_experts = true,
                .not_trained = kShared},
    ModelFamily{.model_type = "llama4_text",
                .architecture = "Llama4ForCausalLM",
                .read = read_llama4,
                .defaults = R"({"num_key_value_heads": 8, "head_dim": 128,
                                "attention_chunk_size": 8192})",
                .has_experts = true,
                .not_trained = kShared},
    ModelFamily{.model_type = "olmoe",
                .architecture = "OlmoeForCausalLM",
                .read = read_olmoe,
                .has_experts = true,
                .not_trained = "norms of queries and keys over all heads"},
    ModelFamily{.model_type = "phimoe",
                .architecture = "PhimoeForCausalLM",
                .read = read_phimoe,
                .defaults = R"({"num_key_value_heads": 8})",
                .has_experts = true,
                .not_trained = "norms with biases"},
    ModelFamily{.model_type = "qwen2_moe",
                .architecture = "Qwen2MoeForCausalLM",
                .read = read_qwen2_moe,
                .defaults = R"({"num_key_value_heads": 16, "sliding_window": 4096,
                                "shared_expert_intermediate_size": 5632})",
                .has_experts = true,
                .not_trained = kShared},
};

}  // namespace

std::span<const ModelFamily> expert_families() { return kExpertFamilies; }

}  // namespace sluice

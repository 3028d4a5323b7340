#include "sim/specs/model/families/other_families.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/input_error.h"
#include "sim/specs/model/model_spec.h"

namespace sluice {
namespace {

/// Names of layers that mix tokens otherwise than by attention, in all versions of transformers.
constexpr std::array<std::string_view, 6> kOtherLayers = {
    "linear_attention", "mamba", "conv", "recurrent", "hybrid", "hybrid_sliding"};

bool is_other(std::string_view type) { return std::ranges::count(kOtherLayers, type) > 0; }

std::int64_t total_layers(const JsonObject& config) {
    return config.integer_or("num_hidden_layers", 0, 0, kMostLayers);
}

/// By the list of layers under one of its names.
LayersOfKind listed(const JsonObject& config) {
    for (const char* key : {"layer_types", "layers_block_type"}) {
        if (!config.is_list(key)) continue;
        const std::vector<std::string> types = config.texts(key);
        return {std::ranges::count_if(types, is_other), static_cast<std::int64_t>(types.size())};
    }
    return {};
}

LayersOfKind all_layers(const JsonObject& config) {
    return {total_layers(config), total_layers(config)};
}

/// Qwen3-Next: all but every full_attention_interval-th.
LayersOfKind between_full(const JsonObject& config) {
    if (const LayersOfKind found = listed(config); found.total > 0) return found;
    const std::int64_t total = total_layers(config);
    return {total - total / config.integer_or("full_attention_interval", 4, 1, kMostLayers), total};
}

/// Nemotron-H: a letter a layer, M for Mamba.
LayersOfKind in_pattern(const JsonObject& config) {
    if (!config.is_text("hybrid_override_pattern")) return listed(config);
    const std::string pattern = config.text("hybrid_override_pattern");
    return {std::ranges::count(pattern, 'M'), static_cast<std::int64_t>(pattern.size())};
}

LayersOfKind in_kimi(const JsonObject& config) {
    const auto linear = config.object_or_none("linear_attn_config");
    if (!linear || !linear->is_list("kda_layers")) return listed(config);
    const auto layers = linear->integers("kda_layers", 0, kMostLayers);
    return {static_cast<std::int64_t>(layers.size()), total_layers(config)};
}

/// Jamba: attention in one layer of each period.
LayersOfKind between_periods(const JsonObject& config) {
    const std::int64_t total = total_layers(config);
    const std::int64_t period = config.integer_or("attn_layer_period", 8, 1, kMostLayers);
    const std::int64_t offset = config.integer_or("attn_layer_offset", 4, 0, kMostLayers);
    std::int64_t attention = 0;
    for (std::int64_t i = 0; i < total; ++i) attention += i % period == offset ? 1 : 0;
    return {total - attention, total};
}

/// All but those that a list gives attention.
LayersOfKind but_those(const JsonObject& config, const char* key) {
    if (const LayersOfKind found = listed(config); found.total > 0) return found;
    if (!config.is_list(key)) return {};
    const auto attention = config.integers(key, 0, kMostLayers);
    return {total_layers(config) - static_cast<std::int64_t>(attention.size()),
            total_layers(config)};
}
LayersOfKind but_attention(const JsonObject& config) {
    return but_those(config, "attn_layer_indices");
}
LayersOfKind but_full(const JsonObject& config) { return but_those(config, "full_attn_idxs"); }

constexpr const char* kDeltaNets = "it has gated delta nets";
constexpr const char* kMamba = "it has Mamba layers";
constexpr const char* kConvolutions = "it has short convolutions in place of attention";
constexpr const char* kIndexer = "its attention is sparse, with an indexer";
constexpr const char* kLightning = "it has lightning attention, which is linear";
constexpr const char* kLayerEmbeddings = "each layer has embeddings of its own";
constexpr const char* kKeysAndValues = "its layers share keys and values, or take keys as values";
constexpr const char* kOwnCode =
    "its code is no part of transformers, by which parameters are counted";

constexpr std::array kOtherFamilies = {
    OtherFamily{"qwen3_next", kDeltaNets, between_full},
    OtherFamily{"qwen3_5", kDeltaNets, between_full},
    OtherFamily{"qwen3_5_text", kDeltaNets, between_full},
    OtherFamily{"qwen3_5_moe", kDeltaNets, between_full},
    OtherFamily{"qwen3_5_moe_text", kDeltaNets, between_full},
    OtherFamily{"qwen4_exp", kDeltaNets, listed},
    OtherFamily{"qwen4_exp_text", kDeltaNets, listed},
    OtherFamily{"olmo_hybrid", kDeltaNets, listed},
    OtherFamily{"kimi_linear", "it has Kimi delta attention", in_kimi},
    OtherFamily{"nemotron_h", kMamba, in_pattern},
    OtherFamily{"falcon_h1", "it has Mamba layers beside attention", all_layers},
    OtherFamily{"bamba", kMamba, but_attention},
    OtherFamily{"jamba", kMamba, between_periods},
    OtherFamily{"zamba2", kMamba, all_layers},
    OtherFamily{"mamba", kMamba, all_layers},
    OtherFamily{"mamba2", kMamba, all_layers},
    OtherFamily{"falcon_mamba", kMamba, all_layers},
    OtherFamily{"lfm2", kConvolutions, but_full},
    OtherFamily{"lfm2_moe", kConvolutions, but_full},
    OtherFamily{"recurrent_gemma", "it has recurrent layers"},
    OtherFamily{"minimax", kLightning, listed},
    OtherFamily{"minimax_m1", kLightning},
    OtherFamily{"minimax_text_01", kLightning},
    OtherFamily{"minimax_m3_vl", "its attention is sparse, over blocks"},
    OtherFamily{"minimax_m3_vl_text", "its attention is sparse, over blocks"},
    OtherFamily{"deepseek_v32", kIndexer},
    OtherFamily{"glm_moe_dsa", kIndexer},
    OtherFamily{"axk2", kIndexer},
    OtherFamily{"glm5_next", "it has linear attention and hyper-connections"},
    OtherFamily{"glm5_next_text", "it has linear attention and hyper-connections"},
    OtherFamily{"deepseek_v4", "it has compressed attention and hyper-connections"},
    OtherFamily{"hy_v4", "it has hyper-connections and sparse attention with an indexer"},
    OtherFamily{"longcat_flash", "a layer has two attentions, and experts that do nothing"},
    OtherFamily{"gemma3n", kLayerEmbeddings},
    OtherFamily{"gemma3n_text", kLayerEmbeddings},
    OtherFamily{"gemma4", kKeysAndValues},
    OtherFamily{"gemma4_text", kKeysAndValues},
    OtherFamily{"laguna", "its layers may differ in their number of heads"},
    OtherFamily{"phi3small", kOwnCode},
    OtherFamily{"bailing_moe", kOwnCode},
    OtherFamily{"bailing_moe_v2", kOwnCode},
    OtherFamily{"bailing_hybrid", "it has lightning attention, which is linear"},
};

[[noreturn]] void refuse(const JsonObject& config, const char* has, LayersOfKind layers) {
    const std::string in_layers =
        layers.total == 0 ? "" : fmt::format(" in {} of {} layers", layers.count, layers.total);
    throw InputError(
        fmt::format("{} is \"{}\", which sluice does not model: {}{}; plan with a model of about "
                    "its size instead, see: sluice models",
                    config.where("model_type"), config.text("model_type"), has, in_layers));
}

}  // namespace

std::span<const OtherFamily> other_families() { return kOtherFamilies; }

void refuse_other_family(const JsonObject& config) {
    const std::string type = config.text("model_type");
    const auto found = std::ranges::find(kOtherFamilies, type, &OtherFamily::model_type);
    if (found == kOtherFamilies.end()) return;
    const JsonObject decoder = config.object_or_none("text_config").value_or(config);
    refuse(config, found->has, found->in_layers ? found->in_layers(decoder) : LayersOfKind{});
}

void refuse_other_layers(const JsonObject& config, const char* has) {
    const LayersOfKind layers = listed(config);
    if (layers.count > 0 || layers.total == 0) refuse(config, has, layers);
}

}  // namespace sluice

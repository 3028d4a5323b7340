#include "sim/specs/model/families/family_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/input_error.h"
#include "sim/specs/model/layer_windows.h"
#include "sim/specs/model/read_model.h"

namespace sluice {

void read_common(const JsonObject& config, ModelSpec& model, bool tied_by_default) {
    read_hf_arithmetic(config, model);
    model.hidden = config.integer("hidden_size", 1, kWidest);
    model.vocabulary = config.integer("vocab_size", 1, kLargestVocabulary);
    model.longest_sequence = config.integer_or("max_position_embeddings", 0, 1, kLongest);
    model.tied_embeddings = config.boolean_or("tie_word_embeddings", tied_by_default);
}

AttentionSpec read_attention(const JsonObject& config, const ModelSpec& model) {
    AttentionSpec a;
    a.heads = config.integer("num_attention_heads", 1, kWidest);
    a.kv_heads = config.integer_or("num_key_value_heads", a.heads, 1, kWidest);
    if (a.heads % a.kv_heads != 0) {
        throw InputError(fmt::format("{} is {}, expected a divisor of num_attention_heads ({})",
                                     config.where("num_key_value_heads"), a.kv_heads, a.heads));
    }
    if (!config.has("head_dim") && model.hidden % a.heads != 0) {
        throw InputError(fmt::format(
            "{} is {}, expected a multiple of num_attention_heads ({}); or give head_dim",
            config.where("hidden_size"), model.hidden, a.heads));
    }
    a.head_dim = a.value_dim = config.integer_or("head_dim", model.hidden / a.heads, 1, kWidest);
    return a;
}

std::int64_t read_window(const JsonObject& config) {
    return config.integer_or("sliding_window", 0, 1, kLongest);
}

LayerSpec dense_layer(const JsonObject& config, ModelSpec& model, bool tied_by_default) {
    read_common(config, model, tied_by_default);
    LayerSpec layer;
    layer.attention = read_attention(config, model);
    layer.feed_forward.intermediate = config.integer("intermediate_size", 1, kWidest);
    return layer;
}

void read_bias(const JsonObject& config, AttentionSpec& attention, bool by_default) {
    attention.qkv_bias = attention.output_bias = config.boolean_or("attention_bias", by_default);
}

void append_sliding_pattern(const JsonObject& config, ModelSpec& model, const LayerSpec& layer,
                            std::int64_t full_every) {
    append_windowed(config, model, layer, read_window(config),
                    [&](std::int64_t i) { return (i + 1) % full_every != 0; });
}

std::int64_t used_window(const JsonObject& config) {
    return config.boolean_or("use_sliding_window", false) ? read_window(config) : 0;
}

void append_windowed_after(const JsonObject& config, ModelSpec& model, const LayerSpec& layer) {
    const std::int64_t full = config.integer_or("max_window_layers", 28, 0, kMostLayers);
    append_windowed(config, model, layer, used_window(config),
                    [&](std::int64_t i) { return i >= full; });
}

namespace {

/// Hunyuan lists it for each layer.
std::int64_t same_in_all_layers(const JsonObject& config, std::string_view key, std::int64_t most) {
    if (!config.is_list(key)) return config.integer(key, 1, most);
    const std::vector<std::int64_t> listed = config.integers(key, 1, most);
    if (listed.empty() ||
        std::ranges::count(listed, listed.front()) != static_cast<std::ptrdiff_t>(listed.size()))
        throw InputError(fmt::format("{} is {}, expected one number for all layers",
                                     config.where(key), config.shown_value(key)));
    return listed.front();
}

}  // namespace

void read_experts(const JsonObject& config, FeedForwardSpec& f, std::string_view experts_key,
                  std::string_view per_token_key) {
    f.experts = config.integer(experts_key, 1, kMostExperts);
    f.experts_per_token = same_in_all_layers(config, per_token_key, f.experts);
}

LayerSpec layer_of_experts(const JsonObject& config, ModelSpec& model,
                           std::string_view experts_key) {
    LayerSpec layer = dense_layer(config, model);
    read_experts(config, layer.feed_forward, experts_key);
    return layer;
}

FeedForwardSpec expert_feed_forward(const JsonObject& config, std::string_view experts_key) {
    FeedForwardSpec f;
    f.intermediate = config.integer("moe_intermediate_size", 1, kWidest);
    read_experts(config, f, experts_key);
    return f;
}

FeedForwardSpec corrected_experts(const JsonObject& config) {
    FeedForwardSpec f = expert_feed_forward(config, "n_routed_experts");
    f.shared_intermediate =
        f.intermediate * config.integer_or("n_shared_experts", 0, 0, kMostExperts);
    f.router_bias = true;  // e_score_correction_bias
    return f;
}

std::vector<bool> sparse_layers(const JsonObject& config,
                                const std::function<bool(std::int64_t)>& is_sparse) {
    constexpr const char* kKey = "mlp_layer_types";
    const std::int64_t total = layer_total(config);
    std::vector<bool> out;
    if (!config.has(kKey)) {
        for (std::int64_t i = 0; i < total; ++i) out.push_back(is_sparse(i));
        return out;
    }
    for (const std::string& type : config.texts(kKey)) {
        if (type != "dense" && type != "sparse")
            throw InputError(
                fmt::format("{} has \"{}\", expected dense or sparse", config.where(kKey), type));
        out.push_back(type == "sparse");
    }
    if (static_cast<std::int64_t>(out.size()) != total)
        throw InputError(fmt::format("{} has {} entries, expected num_hidden_layers ({})",
                                     config.where(kKey), out.size(), total));
    return out;
}

std::vector<bool> sparse_after_first(const JsonObject& config) {
    const std::int64_t dense = config.integer_or("first_k_dense_replace", 0, 0, kMostLayers);
    return sparse_layers(config, [&](std::int64_t i) { return i >= dense; });
}

void append_mixed(const JsonObject& config, ModelSpec& model, const LayerSpec& dense,
                  const FeedForwardSpec& experts, const std::vector<bool>& sparse,
                  const std::function<void(std::int64_t, LayerSpec&)>& change) {
    for (std::int64_t i = 0; i < layer_total(config); ++i) {
        LayerSpec layer = dense;
        if (sparse[static_cast<std::size_t>(i)]) layer.feed_forward = experts;
        change(i, layer);
        append_layers(model, layer, 1);
    }
}

std::vector<bool> layers_with_positions(const JsonObject& config) {
    constexpr const char* kKey = "no_rope_layers";
    const std::int64_t total = layer_total(config);
    const std::int64_t without_every =
        config.integer_or("no_rope_layer_interval", 4, 1, kMostLayers);
    std::vector<std::int64_t> listed;
    if (config.has(kKey)) listed = config.integers(kKey, 0, 1);
    if (!listed.empty() && static_cast<std::int64_t>(listed.size()) != total)
        throw InputError(fmt::format("{} has {} entries, expected num_hidden_layers ({})",
                                     config.where(kKey), listed.size(), total));
    std::vector<bool> out;
    for (std::int64_t i = 0; i < total; ++i)
        out.push_back(listed.empty() ? (i + 1) % without_every != 0
                                     : listed[static_cast<std::size_t>(i)] == 1);
    return out;
}

void refuse_if_true(const JsonObject& config, std::string_view key, std::string_view adds) {
    if (config.boolean_or(key, false))
        throw InputError(fmt::format("{} is true, expected false: {} are not modelled",
                                     config.where(key), adds));
}

}  // namespace sluice

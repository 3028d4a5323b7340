// Turns a Hugging Face config.json into a ModelSpec. Each model family has one function, which also
// knows what its config does not say (biases, norms, layer patterns). The facts are those of the
// transformers library.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

// Limits that no real config exceeds; they keep the product of any two within 64 bits.
constexpr std::int64_t kWidest = 1'000'000;
constexpr std::int64_t kLargestVocabulary = 10'000'000;
constexpr std::int64_t kLongest = 1'000'000'000;
constexpr std::int64_t kMostExperts = 10'000;

std::int64_t layer_total(const JsonObject& config) {
    return config.integer("num_hidden_layers", 1, kMostLayers);
}

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

/// Common to most families: sets the properties of the whole model, returns its dense layer.
LayerSpec dense_layer(const JsonObject& config, ModelSpec& model, bool tied_by_default = false) {
    read_common(config, model, tied_by_default);
    LayerSpec layer;
    layer.attention = read_attention(config, model);
    layer.feed_forward.intermediate = config.integer("intermediate_size", 1, kWidest);
    return layer;
}

void read_bias(const JsonObject& config, AttentionSpec& attention, bool by_default) {
    attention.qkv_bias = attention.output_bias = config.boolean_or("attention_bias", by_default);
}

/// Layers that alternate between a sliding window and full attention, by the config's own list if
/// it has one. Without a list, every `full_every`-th layer is full (Gemma 2: 2, Gemma 3: 6).
void append_sliding_pattern(const JsonObject& config, ModelSpec& model, LayerSpec layer,
                            std::int64_t full_every) {
    const std::int64_t total = layer_total(config);
    const std::int64_t window = read_window(config);
    std::vector<std::string> types;
    if (config.has("layer_types")) types = config.texts("layer_types");
    if (!types.empty() && static_cast<std::int64_t>(types.size()) != total) {
        throw InputError(fmt::format("{} has {} entries, expected num_hidden_layers ({})",
                                     config.where("layer_types"), types.size(), total));
    }
    for (const std::string& type : types) {
        if (type == "full_attention" || type == "sliding_attention") continue;
        throw InputError(fmt::format("{} has \"{}\", expected full_attention or sliding_attention",
                                     config.where("layer_types"), type));
    }
    for (std::int64_t i = 0; i < total; ++i) {
        const bool full = types.empty() ? (i + 1) % full_every == 0
                                        : types[static_cast<std::size_t>(i)] == "full_attention";
        layer.attention.window = full ? 0 : window;
        append_layers(model, layer, 1);
    }
}

void read_llama(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    read_bias(config, layer.attention, false);
    layer.feed_forward.bias = config.boolean_or("mlp_bias", false);
    append_layers(model, layer, layer_total(config));
}

/// The first max_window_layers have full attention, the others a window, if the config uses one.
void append_windowed_after(const JsonObject& config, ModelSpec& model, LayerSpec layer) {
    const std::int64_t total = layer_total(config);
    const bool windowed = config.boolean_or("use_sliding_window", false);
    const std::int64_t full =
        windowed ? std::min(total, config.integer_or("max_window_layers", 28, 0, kMostLayers))
                 : total;
    append_layers(model, layer, full);
    layer.attention.window = read_window(config);
    append_layers(model, layer, total - full);
}

void read_qwen2(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    layer.attention.qkv_bias = true;
    append_windowed_after(config, model, layer);
}

void read_qwen3(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    layer.attention.qk_norm = true;
    read_bias(config, layer.attention, false);
    append_windowed_after(config, model, layer);
}

/// Mistral and Phi 3.
void read_mistral(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    layer.attention.window = read_window(config);
    append_layers(model, layer, layer_total(config));
}

void read_gemma2(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model, true);
    layer.norms = 4;
    append_sliding_pattern(config, model, layer, 2);
}

void read_gemma3(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model, true);
    layer.norms = 4;
    layer.attention.qk_norm = true;
    append_sliding_pattern(config, model, layer,
                           config.integer_or("sliding_window_pattern", 6, 1, kMostLayers));
}

void read_gpt2(const JsonObject& config, ModelSpec& model) {
    model.hidden = config.integer("n_embd", 1, kWidest);
    model.vocabulary = config.integer("vocab_size", 1, kLargestVocabulary);
    model.longest_sequence = model.learned_positions = config.integer("n_positions", 1, kLongest);
    model.tied_embeddings = config.boolean_or("tie_word_embeddings", true);
    model.norm_bias = true;
    LayerSpec layer;
    AttentionSpec& a = layer.attention;
    a.heads = a.kv_heads = config.integer("n_head", 1, kWidest);
    if (model.hidden % a.heads != 0) {
        throw InputError(fmt::format("{} is {}, expected a multiple of n_head ({})",
                                     config.where("n_embd"), model.hidden, a.heads));
    }
    a.head_dim = a.value_dim = model.hidden / a.heads;
    a.qkv_bias = a.output_bias = true;
    layer.feed_forward.intermediate = config.integer_or("n_inner", 4 * model.hidden, 1, kWidest);
    layer.feed_forward.gated = false;
    layer.feed_forward.bias = true;
    layer.norm_bias = true;
    append_layers(model, layer, config.integer("n_layer", 1, kMostLayers));
}

void read_experts(const JsonObject& config, FeedForwardSpec& f, std::string_view experts_key) {
    f.experts = config.integer(experts_key, 1, kMostExperts);
    f.experts_per_token = config.integer("num_experts_per_tok", 1, f.experts);
}

void read_mixtral(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    layer.attention.window = read_window(config);
    read_experts(config, layer.feed_forward, "num_local_experts");
    append_layers(model, layer, layer_total(config));
}

void read_qwen3_moe(const JsonObject& config, ModelSpec& model) {
    LayerSpec dense = dense_layer(config, model);
    dense.attention.qk_norm = true;
    read_bias(config, dense.attention, false);
    LayerSpec sparse = dense;
    sparse.feed_forward.intermediate = config.integer("moe_intermediate_size", 1, kWidest);
    read_experts(config, sparse.feed_forward, "num_experts");
    const std::int64_t sparse_every = config.integer_or("decoder_sparse_step", 1, 1, kMostLayers);
    std::vector<std::int64_t> dense_layers;
    if (config.has("mlp_only_layers"))
        dense_layers = config.integers("mlp_only_layers", 0, kMostLayers);
    for (std::int64_t i = 0; i < layer_total(config); ++i) {
        const bool listed =
            std::find(dense_layers.begin(), dense_layers.end(), i) != dense_layers.end();
        append_layers(model, (i + 1) % sparse_every == 0 && !listed ? sparse : dense, 1);
    }
}

void read_gpt_oss(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    read_bias(config, layer.attention, true);
    layer.attention.sinks = true;
    layer.feed_forward.bias = layer.feed_forward.router_bias = true;
    read_experts(config, layer.feed_forward, "num_local_experts");
    append_sliding_pattern(config, model, layer, 2);
}

void read_deepseek_v3(const JsonObject& config, ModelSpec& model) {
    read_common(config, model, false);
    LayerSpec dense;
    AttentionSpec& a = dense.attention;
    a.latent = true;
    a.heads = a.kv_heads = config.integer("num_attention_heads", 1, kWidest);
    a.rope_dim = config.integer("qk_rope_head_dim", 1, kWidest);
    a.head_dim = config.integer("qk_nope_head_dim", 1, kWidest) + a.rope_dim;
    a.value_dim = config.integer("v_head_dim", 1, kWidest);
    a.query_rank = config.integer_or("q_lora_rank", 0, 1, kWidest);
    a.kv_rank = config.integer("kv_lora_rank", 1, kWidest);
    dense.feed_forward.intermediate = config.integer("intermediate_size", 1, kWidest);

    LayerSpec sparse = dense;
    FeedForwardSpec& f = sparse.feed_forward;
    f.intermediate = config.integer("moe_intermediate_size", 1, kWidest);
    read_experts(config, f, "n_routed_experts");
    f.shared_intermediate =
        f.intermediate * config.integer_or("n_shared_experts", 0, 0, kMostExperts);
    f.router_bias = true;  // e_score_correction_bias

    const std::int64_t total = layer_total(config);
    const std::int64_t first_sparse =
        std::min(total, config.integer_or("first_k_dense_replace", 0, 0, kMostLayers));
    append_layers(model, dense, first_sparse);
    append_layers(model, sparse, total - first_sparse);
}

struct Family {
    const char* model_type;
    void (*read)(const JsonObject&, ModelSpec&);
    bool has_own_layers = false;  ///< whose numbers the trainer does not have, at any config
};
constexpr std::array kFamilies = {
    Family{"llama", read_llama},
    Family{"qwen2", read_qwen2},
    Family{"qwen3", read_qwen3},
    Family{"mistral", read_mistral},
    Family{"phi3", read_mistral, true},
    Family{"gemma2", read_gemma2, true},
    Family{"gemma3_text", read_gemma3, true},
    Family{"gpt2", read_gpt2},
    Family{"mixtral", read_mixtral},
    Family{"qwen3_moe", read_qwen3_moe},
    Family{"gpt_oss", read_gpt_oss},
    Family{"deepseek_v3", read_deepseek_v3},
};

}  // namespace

ModelSpec parse_hf_config(std::string_view text, const std::string& file) {
    JsonObject config = JsonObject::parse(checked_hf_config(text, file), file);
    // A multimodal Gemma 3 has its decoder under text_config; the vision tower is not trained here.
    if (config.text("model_type") == "gemma3") config = config.object("text_config");
    const std::string type = config.text("model_type");

    std::vector<std::string> names;
    for (const Family& family : kFamilies) {
        if (type != family.model_type) {
            names.emplace_back(family.model_type);
            continue;
        }
        ModelSpec model;
        model.name = file;
        model.family = type;
        model.source = file;
        if (family.has_own_layers) model.not_trained = "layers of this family";
        family.read(config, model);
        refuse_uncountable(model, file);
        if (const auto extra = config.object_or_none("_sluice")) {
            model.source = extra->text_or("source", file);
            model.note = extra->text_or("note", "");
        }
        return model;
    }
    throw InputError(fmt::format(
        "{} is \"{}\", a model type that is not supported; supported: {}{}",
        config.where("model_type"), type, fmt::join(names, ", "), did_you_mean(type, names)));
}

}  // namespace sluice

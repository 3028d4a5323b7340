// Each model family has one function, which also knows what its config.json does not say (biases,
// norms, layer patterns). The facts are those of the transformers library.
#include "sim/specs/model/model_families.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/specs/model/layer_windows.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

// Limits that no real config exceeds; they keep the product of any two within 64 bits.
constexpr std::int64_t kWidest = 1'000'000;
constexpr std::int64_t kLargestVocabulary = 10'000'000;
constexpr std::int64_t kLongest = 1'000'000'000;
constexpr std::int64_t kMostExperts = 10'000;

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

/// Every `full_every`-th layer is full (Gemma 2: 2, Gemma 3: 6).
void append_sliding_pattern(const JsonObject& config, ModelSpec& model, const LayerSpec& layer,
                            std::int64_t full_every) {
    append_windowed(config, model, layer, read_window(config),
                    [&](std::int64_t i) { return (i + 1) % full_every != 0; });
}

void read_llama(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    read_bias(config, layer.attention, false);
    layer.feed_forward.bias = config.boolean_or("mlp_bias", false);
    append_alike(config, model, layer);
}

/// Qwen: the window that it uses, if it uses one.
std::int64_t used_window(const JsonObject& config) {
    return config.boolean_or("use_sliding_window", false) ? read_window(config) : 0;
}

/// The first max_window_layers have full attention, the others a window.
void append_windowed_after(const JsonObject& config, ModelSpec& model, const LayerSpec& layer) {
    const std::int64_t full = config.integer_or("max_window_layers", 28, 0, kMostLayers);
    append_windowed(config, model, layer, used_window(config),
                    [&](std::int64_t i) { return i >= full; });
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

void read_mistral(const JsonObject& config, ModelSpec& model) {
    const LayerSpec layer = dense_layer(config, model);
    append_windowed(config, model, layer, read_window(config), [](std::int64_t) { return true; });
}

void read_phi3(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    layer.attention.window = read_window(config);
    append_alike(config, model, layer);
}

void read_gemma2(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model, true);
    read_bias(config, layer.attention, false);
    layer.norms = 4;
    append_sliding_pattern(config, model, layer, 2);
}

void read_gemma3(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model, true);
    read_bias(config, layer.attention, false);
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

/// Losses and noise of the router that only some configs ask for.
void read_router(const JsonObject& config, ModelSpec& model) {
    if (config.boolean_or("output_router_logits", false))
        model.not_trained = "auxiliary loss of the router (output_router_logits)";
    if (config.number_or_none("router_jitter_noise", 0, 1).value_or(0) > 0)
        model.not_trained = "noise of the router (router_jitter_noise)";
}

void read_mixtral(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    layer.attention.window = read_window(config);
    read_experts(config, layer.feed_forward, "num_local_experts");
    read_router(config, model);
    append_alike(config, model, layer);
}

void read_qwen3_moe(const JsonObject& config, ModelSpec& model) {
    LayerSpec dense = dense_layer(config, model);
    dense.attention.qk_norm = true;
    read_bias(config, dense.attention, false);
    dense.attention.window = used_window(config);
    refuse_other_types(config, dense.attention);
    LayerSpec sparse = dense;
    sparse.feed_forward.intermediate = config.integer("moe_intermediate_size", 1, kWidest);
    // transformers 5 writes the second name.
    read_experts(config, sparse.feed_forward,
                 config.has("num_experts") ? "num_experts" : "num_local_experts");
    read_router(config, model);
    if (!config.boolean_or("norm_topk_prob", false))
        sparse.feed_forward.route_weights = RouteWeights::of_all;
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
    if (config.boolean_or("attention_bias", false))
        throw InputError(config.where("attention_bias") +
                         " is true, expected false: biases of latent attention are not supported");
    read_common(config, model, false);
    refuse_other_types(config, {});
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

constexpr std::array kFamilies = {
    ModelFamily{"llama", "LlamaForCausalLM", read_llama},
    ModelFamily{"qwen2", "Qwen2ForCausalLM", read_qwen2,
                R"({"num_key_value_heads": 32, "sliding_window": 4096})"},
    ModelFamily{"qwen3", "Qwen3ForCausalLM", read_qwen3,
                R"({"num_key_value_heads": 32, "head_dim": 128, "sliding_window": 4096})"},
    ModelFamily{"mistral", "MistralForCausalLM", read_mistral,
                R"({"num_key_value_heads": 8, "sliding_window": 4096})"},
    ModelFamily{.model_type = "phi3",
                .architecture = "Phi3ForCausalLM",
                .read = read_phi3,
                .has_own_layers = true},
    ModelFamily{
        .model_type = "gemma2",
        .architecture = "Gemma2ForCausalLM",
        .read = read_gemma2,
        .defaults = R"({"num_key_value_heads": 4, "head_dim": 256, "sliding_window": 4096})",
        .has_own_layers = true},
    ModelFamily{.model_type = "gemma3_text",
                .architecture = "Gemma3ForCausalLM",
                .read = read_gemma3,
                .defaults = R"({"num_attention_heads": 8, "num_key_value_heads": 4,
                                "head_dim": 256, "vocab_size": 262208, "sliding_window": 4096,
                                "max_position_embeddings": 131072})",
                .has_own_layers = true},
    ModelFamily{"gpt2", "GPT2LMHeadModel", read_gpt2},
    ModelFamily{.model_type = "mixtral",
                .architecture = "MixtralForCausalLM",
                .read = read_mixtral,
                .defaults = R"({"num_key_value_heads": 8})",
                .has_experts = true,
                .experts = {"block_sparse_moe", "w1", "w3", "w2"}},
    ModelFamily{"qwen3_moe", "Qwen3MoeForCausalLM", read_qwen3_moe,
                R"({"num_key_value_heads": 4, "sliding_window": 4096})", true},
    ModelFamily{"gpt_oss", "GptOssForCausalLM", read_gpt_oss,
                R"({"num_key_value_heads": 8, "head_dim": 64, "sliding_window": 128})", true},
    ModelFamily{"deepseek_v3", "DeepseekV3ForCausalLM", read_deepseek_v3,
                R"({"q_lora_rank": 1536, "n_shared_experts": 1, "first_k_dense_replace": 3})",
                true},
};

const ModelFamily* family_with(std::string_view ModelFamily::*name, std::string_view value) {
    const auto found = std::ranges::find(kFamilies, value, name);
    return found == kFamilies.end() ? nullptr : &*found;
}

}  // namespace

std::span<const ModelFamily> model_families() { return kFamilies; }

const ModelFamily* family_of_type(std::string_view model_type) {
    return family_with(&ModelFamily::model_type, model_type);
}

const ModelFamily* family_of_class(std::string_view architecture) {
    return family_with(&ModelFamily::architecture, architecture);
}

}  // namespace sluice

// Each model family has one function, which also knows what its config.json does not say (biases,
// norms, layer patterns). The facts are those of the transformers library.
#include "sim/specs/model/model_families.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/specs/model/families/family_groups.h"
#include "sim/specs/model/families/family_parts.h"
#include "sim/specs/model/layer_windows.h"

namespace sluice {
namespace {

void read_llama(const JsonObject& config, ModelSpec& model) {
    LayerSpec layer = dense_layer(config, model);
    read_bias(config, layer.attention, false);
    layer.feed_forward.bias = config.boolean_or("mlp_bias", false);
    append_alike(config, model, layer);
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

constexpr const char* kImagePositions = "positions of images and text";

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
                .not_trained = "reader of joined tensors (qkv_proj, gate_up_proj)"},
    ModelFamily{
        .model_type = "gemma2",
        .architecture = "Gemma2ForCausalLM",
        .read = read_gemma2,
        .defaults = R"({"num_key_value_heads": 4, "head_dim": 256, "sliding_window": 4096})",
        .not_trained = "soft caps of attention and logits"},
    ModelFamily{.model_type = "gemma3_text",
                .architecture = "Gemma3ForCausalLM",
                .read = read_gemma3,
                .defaults = R"({"num_attention_heads": 8, "num_key_value_heads": 4,
                                "head_dim": 256, "vocab_size": 262208, "sliding_window": 4096,
                                "max_position_embeddings": 131072})",
                .not_trained = "norms that add 1 to their weights"},
    ModelFamily{"gpt2", "GPT2LMHeadModel", read_gpt2},
    ModelFamily{.model_type = "mixtral",
                .architecture = "MixtralForCausalLM",
                .read = read_mixtral,
                .defaults = R"({"num_key_value_heads": 8})",
                .has_experts = true,
                .experts = {"block_sparse_moe", "w1", "w3", "w2"}},
    ModelFamily{"qwen3_moe", "Qwen3MoeForCausalLM", read_qwen3_moe,
                R"({"num_key_value_heads": 4, "sliding_window": 4096})", true},
    // In models of images and text.
    ModelFamily{.model_type = "qwen3_vl_text",
                .architecture = "Qwen3VLTextModel",
                .read = read_qwen3,
                .defaults = R"({"num_key_value_heads": 32, "head_dim": 128})",
                .not_trained = kImagePositions},
    ModelFamily{.model_type = "qwen3_vl_moe_text",
                .architecture = "Qwen3VLMoeTextModel",
                .read = read_qwen3_moe,
                .defaults = R"({"num_key_value_heads": 16})",
                .has_experts = true,
                .not_trained = kImagePositions},
    ModelFamily{"gpt_oss", "GptOssForCausalLM", read_gpt_oss,
                R"({"num_key_value_heads": 8, "head_dim": 64, "sliding_window": 128})", true},
};

constexpr std::array kDecodersInside = {
    DecoderInside{"gemma3", "Gemma3ForConditionalGeneration", true},
    DecoderInside{"glm4v_moe", "Glm4vMoeForConditionalGeneration"},
    DecoderInside{"kimi_k25", "KimiK25ForConditionalGeneration", true,
                  "Kimi_K25ForConditionalGeneration"},
    DecoderInside{"llama4", "Llama4ForConditionalGeneration"},
    DecoderInside{"mistral3", "Mistral3ForConditionalGeneration", true},
    DecoderInside{"qwen3_vl", "Qwen3VLForConditionalGeneration", false},
    DecoderInside{"qwen3_vl_moe", "Qwen3VLMoeForConditionalGeneration", false},
};

std::vector<ModelFamily> all_families() {
    std::vector<ModelFamily> out(kFamilies.begin(), kFamilies.end());
    for (const auto group :
         {latent_families(), dense_families(), expert_families(), corrected_families()})
        out.insert(out.end(), group.begin(), group.end());
    return out;
}

const ModelFamily* family_with(std::string_view ModelFamily::*name, std::string_view value) {
    const auto families = model_families();
    const auto found = std::ranges::find(families, value, name);
    return found == families.end() ? nullptr : &*found;
}

}  // namespace

std::span<const ModelFamily> model_families() {
    static const std::vector<ModelFamily> families = all_families();
    return families;
}

std::span<const DecoderInside> decoders_inside() { return kDecodersInside; }

const ModelFamily* family_of_type(std::string_view model_type) {
    return family_with(&ModelFamily::model_type, model_type);
}

const ModelFamily* family_of_class(std::string_view architecture) {
    return family_with(&ModelFamily::architecture, architecture);
}

}  // namespace sluice

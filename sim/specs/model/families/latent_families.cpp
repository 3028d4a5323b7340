// Families with multi-head latent attention, one function each. The facts are those of transformers
// 5.17.0.
#include <array>

#include "sim/specs/model/families/family_groups.h"
#include "sim/specs/model/families/family_parts.h"
#include "sim/specs/model/layer_windows.h"

namespace sluice {
namespace {

AttentionSpec latent_attention(const JsonObject& config) {
    refuse_if_true(config, "attention_bias", "biases of latent attention");
    AttentionSpec a;
    a.latent = true;
    a.heads = a.kv_heads = config.integer("num_attention_heads", 1, kWidest);
    a.rope_dim = config.integer("qk_rope_head_dim", 1, kWidest);
    a.head_dim = config.integer("qk_nope_head_dim", 1, kWidest) + a.rope_dim;
    a.value_dim = config.integer("v_head_dim", 1, kWidest);
    a.query_rank = config.integer_or("q_lora_rank", 0, 1, kWidest);
    a.kv_rank = config.integer("kv_lora_rank", 1, kWidest);
    return a;
}

LayerSpec latent_layer(const JsonObject& config, ModelSpec& model) {
    read_common(config, model, false);
    refuse_other_types(config, {});
    LayerSpec layer;
    layer.attention = latent_attention(config);
    layer.feed_forward.intermediate = config.integer("intermediate_size", 1, kWidest);
    return layer;
}

void read_latent_dense(const JsonObject& config, ModelSpec& model) {
    refuse_if_true(config, "mlp_bias", "biases beside latent attention");
    append_layers(model, latent_layer(config, model), layer_total(config));
}

void read_deepseek_v2(const JsonObject& config, ModelSpec& model) {
    refuse_if_true(config, "mlp_bias", "biases beside latent attention");
    FeedForwardSpec experts = corrected_experts(config);
    experts.router_bias = false;
    append_mixed(config, model, latent_layer(config, model), experts, sparse_after_first(config));
}

void read_deepseek_v3(const JsonObject& config, ModelSpec& model) {
    const LayerSpec dense = latent_layer(config, model);
    append_mixed(config, model, dense, corrected_experts(config), sparse_after_first(config));
}

/// One dense layer unless the config lists them.
void read_glm4_moe_lite(const JsonObject& config, ModelSpec& model) {
    const LayerSpec dense = latent_layer(config, model);
    append_mixed(config, model, dense, corrected_experts(config),
                 sparse_layers(config, [](std::int64_t i) { return i > 0; }));
}

constexpr const char* kLatent = "latent attention";

constexpr std::array kLatentFamilies = {
    ModelFamily{.model_type = "deepseek_v3",
                .architecture = "DeepseekV3ForCausalLM",
                .read = read_deepseek_v3,
                .defaults = R"({"q_lora_rank": 1536, "n_shared_experts": 1,
                                "first_k_dense_replace": 3})",
                .has_experts = true,
                .not_trained = kLatent},
    ModelFamily{.model_type = "deepseek_v2",
                .architecture = "DeepseekV2ForCausalLM",
                .read = read_deepseek_v2,
                .defaults = R"({"q_lora_rank": 1536, "n_shared_experts": 2})",
                .has_experts = true,
                .not_trained = kLatent},
    // Its code is DeepSeek's.
    ModelFamily{.model_type = "kimi_k2",
                .architecture = "DeepseekV3ForCausalLM",
                .read = read_deepseek_v3,
                .defaults = R"({"q_lora_rank": 1536, "n_shared_experts": 1,
                                "first_k_dense_replace": 3})",
                .has_experts = true,
                .not_trained = kLatent},
    ModelFamily{.model_type = "glm4_moe_lite",
                .architecture = "Glm4MoeLiteForCausalLM",
                .read = read_glm4_moe_lite,
                .defaults = R"({"q_lora_rank": 768, "n_shared_experts": 1})",
                .has_experts = true,
                .not_trained = kLatent},
    // In a model of images and text.
    ModelFamily{.model_type = "mistral4",
                .architecture = "Mistral4ForCausalLM",
                .read = read_deepseek_v2,
                .defaults = R"({"q_lora_rank": 1024, "n_shared_experts": 1})",
                .has_experts = true,
                .not_trained = kLatent},
    ModelFamily{.model_type = "minicpm3",
                .architecture = "MiniCPM3ForCausalLM",
                .read = read_latent_dense,
                .defaults = R"({"tie_word_embeddings": true, "q_lora_rank": 768,
                                "v_head_dim": 64})",
                .not_trained = kLatent},
    ModelFamily{.model_type = "youtu",
                .architecture = "YoutuForCausalLM",
                .read = read_latent_dense,
                .defaults = R"({"tie_word_embeddings": true, "q_lora_rank": 1536})",
                .not_trained = kLatent},
};

}  // namespace

std::span<const ModelFamily> latent_families() { return kLatentFamilies; }

}  // namespace sluice

// Which parts of a config.json do families share, and how do they become layers?
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "sim/base/json_object.h"
#include "sim/specs/model/model_spec.h"

namespace sluice {

// Limits that no real config exceeds; they keep the product of any two within 64 bits.
inline constexpr std::int64_t kWidest = 1'000'000;
inline constexpr std::int64_t kLargestVocabulary = 10'000'000;
inline constexpr std::int64_t kLongest = 1'000'000'000;
inline constexpr std::int64_t kMostExperts = 10'000;

/// Widths and vocabulary of a model, and how it computes. All functions here throw InputError.
void read_common(const JsonObject& config, ModelSpec& model, bool tied_by_default);
AttentionSpec read_attention(const JsonObject& config, const ModelSpec& model);
/// 0 if there is none.
std::int64_t read_window(const JsonObject& config);
/// Qwen: the window that it uses, if it uses one.
std::int64_t used_window(const JsonObject& config);
/// Common to most families: sets the properties of the whole model, returns its dense layer.
LayerSpec dense_layer(const JsonObject& config, ModelSpec& model, bool tied_by_default = false);
/// One key for the biases of q, k, v and of the output.
void read_bias(const JsonObject& config, AttentionSpec& attention, bool by_default);

/// Every `full_every`-th layer is full (Gemma 2: 2, Gemma 3: 6).
void append_sliding_pattern(const JsonObject& config, ModelSpec& model, const LayerSpec& layer,
                            std::int64_t full_every);
/// The first max_window_layers have full attention, the others a window.
void append_windowed_after(const JsonObject& config, ModelSpec& model, const LayerSpec& layer);

/// Routed experts of a feed-forward, and how many a token passes.
void read_experts(const JsonObject& config, FeedForwardSpec& f, std::string_view experts_key,
                  std::string_view per_token_key = "num_experts_per_tok");
/// All layers have experts of the width intermediate_size.
LayerSpec layer_of_experts(const JsonObject& config, ModelSpec& model,
                           std::string_view experts_key);
/// `moe_intermediate_size` as width of an expert.
FeedForwardSpec expert_feed_forward(const JsonObject& config, std::string_view experts_key);
/// As DeepSeek V3's: n_routed_experts, n_shared_experts and a bias that corrects the routing.
FeedForwardSpec corrected_experts(const JsonObject& config);

/// For each layer, whether it has experts: those of the config's own mlp_layer_types if it has
/// them, else those for whose index `is_sparse` is true.
std::vector<bool> sparse_layers(const JsonObject& config,
                                const std::function<bool(std::int64_t)>& is_sparse);
/// From layer first_k_dense_replace on.
std::vector<bool> sparse_after_first(const JsonObject& config);

/// Appends all layers of the config, which share attention unless `change` varies it by index.
void append_mixed(
    const JsonObject& config, ModelSpec& model, const LayerSpec& dense,
    const FeedForwardSpec& experts, const std::vector<bool>& sparse,
    const std::function<void(std::int64_t, LayerSpec&)>& change = [](std::int64_t, LayerSpec&) {});

/// For each layer, whether it sees positions: no_rope_layers has 1 for those that do; else all but
/// every no_rope_layer_interval-th.
std::vector<bool> layers_with_positions(const JsonObject& config);

/// Refuses a key that is true and adds tensors which are not counted.
void refuse_if_true(const JsonObject& config, std::string_view key, std::string_view adds);

}  // namespace sluice

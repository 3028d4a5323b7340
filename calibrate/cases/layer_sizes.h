// How large are the layers that kernels are measured for?
#pragma once

#include <cstdint>
#include <vector>

namespace sluice {

/// The sizes of a transformer's layers and head.
struct LayerSizes {
    std::int64_t hidden, heads, kv_heads, head_dim, intermediate, vocabulary;
    std::int64_t query_width() const { return heads * head_dim; }
    std::int64_t query_key_width() const { return (heads + kv_heads) * head_dim; }
    std::int64_t qkv_width() const { return (heads + 2 * kv_heads) * head_dim; }
};

/// Layers of models of 0.1B to 405B parameters, none equal to those held out.
/// `is_gpu`: as they are; else as small(), which a CPU trains.
std::vector<LayerSizes> fit_layers(bool is_gpu);
/// Layers of Qwen2.5-3B, 14B and 72B, in this order.
std::vector<LayerSizes> held_out_layers(bool is_gpu);

/// Widths an eighth (to a multiple of 16), the vocabulary a 32nd, half the heads of a quarter.
LayerSizes small(const LayerSizes& layer);

/// y (tokens, out) = x (tokens, in) W^T.
struct Linear {
    std::int64_t out = 0, in = 0;
    bool added = false;  ///< the residual, in forward
    bool head = false;   ///< gives logits
};

/// The products of a layer: queries, keys and values; attention output; gate and up; down; and the
/// head.
std::vector<Linear> linears(const LayerSizes& layer);

/// Layers thinner than those of the models: heads' keys and values, low-rank and small ones, where
/// times are farthest from the trend.
std::vector<Linear> thin_linears(bool is_gpu);

}  // namespace sluice

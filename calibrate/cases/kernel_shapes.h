// Which shapes of kernels are measured, for layers of which sizes, and in which order?
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/mixed_bits.h"
#include "sim/specs/model/kernel.h"

namespace sluice {

/// Sizes of a kernel, all 0 or more.
using ShapeSize = std::vector<std::int64_t>;

/// `count` of the candidates, or all; equal ones count as one. Each next one reduces the mean
/// squared distance from all candidates to the nearest chosen one most, so the first few are the
/// best few. Every third is the one farthest from the chosen ones, so that the ends are reached. A
/// factor of 2 in a size is a distance of 1; a size of 0 counts as half of 1.
std::vector<ShapeSize> spread_evenly(std::vector<ShapeSize> candidates, std::size_t count);

/// The same items in an order without pattern. Heat and other changes over a minute then look like
/// noise, not like a shape, and held-out shapes are measured in the same conditions as others.
template <typename Item>
std::vector<Item> in_mixed_order(std::vector<Item> items) {
    std::vector<std::pair<std::uint64_t, std::size_t>> order;
    for (std::size_t i = 0; i < items.size(); ++i) order.emplace_back(mixed_bits(i), i);
    std::sort(order.begin(), order.end());
    std::vector<Item> out;
    for (const auto& [key, index] : order) out.push_back(std::move(items[index]));
    return out;
}

/// The sizes of a transformer's layers and head.
struct LayerSizes {
    std::int64_t hidden, heads, kv_heads, head_dim, intermediate, vocabulary;
    std::int64_t query_width() const { return heads * head_dim; }
    std::int64_t query_key_width() const { return (heads + kv_heads) * head_dim; }
    std::int64_t qkv_width() const { return (heads + 2 * kv_heads) * head_dim; }
};

/// Layers of models of 0.1B to 405B parameters, none equal to the held-out ones. `is_gpu`: full
/// size; else as small(), which a CPU trains.
std::vector<LayerSizes> fit_layers(bool is_gpu);
/// Layers of Qwen2.5-3B, 14B and 72B, in this order.
std::vector<LayerSizes> held_out_layers(bool is_gpu);

/// Widths an eighth (to a multiple of 16), the vocabulary a 32nd, an eighth of the heads.
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

/// Layers thinner than those of the models: keys and values of few heads, low-rank and small ones,
/// where times are farthest from the trend.
std::vector<Linear> thin_linears(bool is_gpu);

/// The machine that shapes are chosen for.
struct ShapeLimits {
    bool is_gpu = false;    ///< without one, models are an eighth as wide
    double most_flops = 0;  ///< of a product, or of attention
    bool quick = false;     ///< a tenth of them
};

/// `seconds` at `flops_per_s`, to the nearest power of 4, so that machines of one kind measure the
/// same shapes.
double flops_limit(double flops_per_s, Seconds seconds);

/// Sizes in the table's columns: products m, n, k, added; attention sequences, sequence, heads,
/// kv_heads, head_dim; all others rows, columns.
struct KernelShape {
    ShapeSize size;
    bool held_out = false;
};
/// First the shapes to fit, in the order of choice, then the held-out ones.
using KernelShapes = std::vector<KernelShape>;

/// m, n, k as in sim/specs/model/layer_kernels.cpp: of d (m, n) and the inner size k.
KernelShapes gemm_shapes(GemmRole role, const ShapeLimits& limits);

/// For both directions: a shape's kernels are compiled once.
KernelShapes attention_shapes(const ShapeLimits& limits);

/// With heads of head_dim_of() elements, if there are any. Precondition: not
/// MemoryBoundWork::other.
KernelShapes memory_bound_shapes(MemoryBoundWork work, const ShapeLimits& limits);
std::int64_t head_dim_of(const ShapeLimits& limits);

}  // namespace sluice

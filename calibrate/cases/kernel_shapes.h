// Which shapes of kernels are measured, of layers of which sizes?
#pragma once

#include <cstdint>
#include <vector>

#include "calibrate/cases/even_spread.h"
#include "sim/specs/model/kernel.h"

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

/// For which machine shapes are chosen.
struct ShapeLimits {
    bool is_gpu = false;    ///< without one, models are an eighth as wide
    double most_flops = 0;  ///< of a product, or of attention
    bool quick = false;     ///< a tenth of them
};

/// `seconds` at `flops_per_s`, to the nearest power of 4, so that machines of one kind measure the
/// same shapes.
double flops_limit(double flops_per_s, Seconds seconds);

/// Sizes as the table's columns say them: products m, n, k, added; attention sequences, sequence,
/// heads, kv_heads, head_dim; all else rows, columns.
struct KernelShape {
    ShapeSize size;
    bool held_out = false;
};
/// Those to fit in the order of choice, then those held out.
using KernelShapes = std::vector<KernelShape>;

/// m, n, k as sim/specs/model/layer_kernels.cpp has them: of d (m, n) and the inner size k.
KernelShapes gemm_shapes(GemmRole role, const ShapeLimits& limits);

/// For both directions: a shape's kernels are compiled once.
KernelShapes attention_shapes(const ShapeLimits& limits);

/// Where there are heads, of head_dim_of() elements. Precondition: not MemoryBoundWork::other.
KernelShapes memory_bound_shapes(MemoryBoundWork work, const ShapeLimits& limits);
std::int64_t head_dim_of(const ShapeLimits& limits);

}  // namespace sluice

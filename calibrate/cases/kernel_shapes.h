// Which shapes of kernels are measured? A fit set that covers what transformers of 0.5B to 100B
// parameters need, and held-out shapes that no fit sees: the layers of Qwen2.5-3B, 14B and 72B.
//
// The fit set is chosen from the layers of other models times numbers of tokens: each next shape is
// the one that most lowers the mean squared distance (in doublings of each dimension) from all
// these candidates to the nearest chosen one. So it is dense where models are, its first shapes are
// the best few, and it does not depend on the machine but for the size of the largest.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/model/kernel.h"

namespace sluice {

/// For which machine shapes are chosen.
struct ShapeLimits {
    bool is_gpu = false;    ///< without one, models are an eighth as wide
    double most_flops = 0;  ///< of a product, or of attention
    bool quick = false;     ///< a tenth of them
};

/// Of `seconds` at `flops_per_s`, to the nearest power of 4, so that machines of one kind measure
/// the same shapes.
double flops_limit(double flops_per_s, Seconds seconds);

/// A shape as its table's columns say it: products m, n, k, added; attention sequences, sequence,
/// heads, kv_heads, head_dim; all else rows, columns.
struct KernelShape {
    std::vector<std::int64_t> size;
    bool held_out = false;
};
using KernelShapes = std::vector<KernelShape>;

/// m, n, k as sim/model/layer_kernels.cpp has them: of d (m, n) and the inner size k.
KernelShapes gemm_shapes(GemmRole role, const ShapeLimits& limits);

/// `backward` has 2.5 times the FLOPs. Causal, so half of all pairs count.
KernelShapes attention_shapes(bool backward, const ShapeLimits& limits);

/// Of heads as wide as head_dim_of(limits) where it has heads. Precondition: not
/// MemoryBoundWork::other.
KernelShapes memory_bound_shapes(MemoryBoundWork work, const ShapeLimits& limits);
std::int64_t head_dim_of(const ShapeLimits& limits);

/// `count` of the candidates (or all), chosen as said above; the order is that of choice. Distance
/// counts 1 for twice the size; a size of 0 is taken as half of 1.
KernelShapes spread_evenly(const KernelShapes& candidates, std::size_t count);

}  // namespace sluice

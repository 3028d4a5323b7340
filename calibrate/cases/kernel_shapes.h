// Which shapes of kernels are measured? A fit set that covers what transformers of 0.1B to 405B
// parameters need, and held-out shapes that no fit sees: the layers of Qwen2.5-3B, 14B and 72B.
//
// The fit set is chosen by spread_evenly() from the layers of other models (layer_sizes.h) times
// numbers of tokens: it is dense where models are, and depends on the machine only by the size of
// the largest.
#pragma once

#include <cstdint>
#include <vector>

#include "calibrate/cases/even_spread.h"
#include "sim/specs/model/kernel.h"

namespace sluice {

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

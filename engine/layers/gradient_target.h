// Where do gradients of weights go?
#pragma once

#include "engine/layers/layer_layout.h"

namespace sluice {

/// The destination of weight gradients, in the layout of the weights: written, or added to sums in
/// fp32.
struct GradientTarget {
    void* base = nullptr;
    DType type = DType::bf16;
    bool accumulate = false;
    Matrix matrix(const TensorPlace& place) const { return matrix_at(base, type, place); }
    Vector vector(const TensorPlace& place) const { return vector_at(base, type, place); }
};

}  // namespace sluice

// Where do gradients of weights go?
#pragma once

#include "engine/layers/layer_layout.h"

namespace sluice {

/// The destination of weight gradients, in the layout of the weights: written, or added to sums in
/// fp32. Frozen weights have none.
struct GradientTarget {
    void* base = nullptr;
    DType type = DType::bf16;
    bool accumulate = false;
    bool present() const { return base != nullptr; }
    /// Absent where the target is.
    Matrix matrix(const TensorPlace& place) const {
        return present() ? matrix_at(base, type, place) : Matrix{};
    }
    Vector vector(const TensorPlace& place) const {
        return present() ? vector_at(base, type, place) : Vector{};
    }
};

}  // namespace sluice

// Weights in bf16. For products in FP8 each pass casts them, or the first one of a step does.
#include "engine/layers/layer_form.h"

namespace sluice {
namespace {

/// With its place in the memory, which is taken in the order of the matrices.
Operand bf16_matrix(LayerWeights& weights, const TensorPlace& place, std::size_t /*index*/) {
    Operand out{matrix_at(weights.block, DType::bf16, place)};
    if (!weights.memory.present()) return out;
    auto* const scale = static_cast<Fp8Scale*>(weights.memory.take(sizeof(Fp8Scale)));
    if (weights.keeps_codes) {
        out.codes = {weights.memory.matrix(DType::e4m3, place.rows, place.columns),
                     weights.memory.matrix(DType::e4m3, place.columns, place.rows), scale};
        out.casts_first = weights.first;
    } else {
        out.scale = scale;
        out.measured = !weights.first;
    }
    return out;
}

}  // namespace

LayerForm bf16_layer() {
    return {[](const LayerLayout& bf16) {
                LayerLayout out = bf16;
                out.size *= bytes_of(DType::bf16);
                return out;
            },
            bf16_matrix};
}

}  // namespace sluice

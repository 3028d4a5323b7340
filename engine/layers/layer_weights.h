// How does a pass get a layer's weights: bf16 and in FP8 their scales or codes, or codes alone?
#pragma once

#include "engine/layers/layer_layout.h"
#include "engine/layers/linear.h"
#include "engine/layers/workspace.h"

namespace sluice {

/// A layer's weights: its flat range on the device (bf16). Products in FP8 read codes of them.
struct LayerWeights {
    LayerWeights(void* range_) : range(range_) {}
    LayerWeights(void* range_, Workspace fp8_, bool keeps_codes_, bool first_)
        : range(range_), fp8(fp8_), keeps_codes(keeps_codes_), first(first_) {}
    /// Codes that came from the host or were there, laid out by coded_layout().
    static LayerWeights arrived(void* block) {
        LayerWeights out(block);
        out.arrived_scales = static_cast<Fp8Scale*>(block);
        return out;
    }
    void* range;
    Workspace fp8{};           ///< of scales, and codes if they are kept; without, each cast finds
                               ///< a scale of its own
    bool keeps_codes = false;  ///< in both orders
    bool first = true;         ///< this pass is the first with these weights: it writes `fp8`
    Fp8Scale* arrived_scales = nullptr;  ///< those that take() has not come to; null: none arrived
    bool have_arrived() const { return arrived_scales != nullptr; }

    Vector vector(const TensorPlace& place) const { return vector_at(range, DType::bf16, place); }
    /// The tensor with its place in `fp8`, which is taken in the order of these calls, as are
    /// scales that arrived.
    Operand take(const TensorPlace& place) {
        if (have_arrived())
            return {Matrix{}, nullptr, true,
                    CastOperand{matrix_at(range, DType::e4m3, place), {}, arrived_scales++}};
        Operand out{matrix_at(range, DType::bf16, place)};
        if (!fp8.present()) return out;
        auto* const scale = static_cast<Fp8Scale*>(fp8.take(sizeof(Fp8Scale)));
        if (keeps_codes) {
            out.codes = {fp8.matrix(DType::e4m3, place.rows, place.columns),
                         fp8.matrix(DType::e4m3, place.columns, place.rows), scale};
        } else {
            out.scale = scale;
            out.measured = !first;
        }
        return out;
    }
};

}  // namespace sluice

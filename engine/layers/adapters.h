// Where are the adapters (LoRA, arXiv 2106.09685) of a layer, and how do its products use them?
// y = x W^T + scale (x A^T) B^T, where W is frozen.
#pragma once

#include <array>
#include <vector>

#include "engine/kernels/kernels.h"
#include "engine/layers/gradient_target.h"
#include "engine/layers/layer_layout.h"
#include "engine/layers/workspace.h"
#include "sim/specs/model/adapters.h"

namespace sluice {

/// The adapters of one matrix of LayerLayout.
struct MatrixAdapters {
    TensorPlace a;                            ///< (modules x rank, columns), since x is one
    std::array<TensorPlace, kMostModules> b;  ///< (rows of the module, rank), of those it has
    /// Those of all modules of the matrix, with adapters or without.
    std::array<std::int64_t, kMostModules> rows = {};
    bool present() const { return a.rows > 0; }
    /// All modules have adapters.
    bool whole() const;
};

/// The adapters of one layer in their flat range, which starts at offset 0.
struct AdapterLayout {
    MatrixAdapters qkv, output, gate_up, down;
    std::int64_t rank = 0;
    std::int64_t size = 0;  ///< elements
};
AdapterLayout adapter_layout(const ModelSpec& model, const LayerSpec& layer,
                             const AdapterShape& adapters);
/// Where the adapters of each layer begin in those of all layers, and at last where these end.
std::vector<std::int64_t> adapter_begins(const ModelSpec& model, const AdapterShape& adapters);

/// scale x A^T of each product, (tokens, modules x rank), which backward reads.
struct AdaptedInputs {
    Matrix qkv, output, gate_up, down;
    bool present() const {
        return qkv.present() || output.present() || gate_up.present() || down.present();
    }
};
/// Which of a layer's matrices.
struct AdaptedMatrix {
    MatrixAdapters AdapterLayout::*places;
    Matrix AdaptedInputs::*input;
};
inline constexpr AdaptedMatrix kAdaptedQkv = {&AdapterLayout::qkv, &AdaptedInputs::qkv},
                               kAdaptedOutput = {&AdapterLayout::output, &AdaptedInputs::output},
                               kAdaptedGateUp = {&AdapterLayout::gate_up, &AdaptedInputs::gate_up},
                               kAdaptedDown = {&AdapterLayout::down, &AdaptedInputs::down};
/// Memory for one of them, taken from `memory`, if there are adapters.
Matrix take_adapted(Workspace& memory, const MatrixAdapters& of, std::int64_t tokens, DType type);

/// A layer's adapters on the device, for a pass; by default it has none.
struct LayerAdapters {
    const AdapterLayout* layout = nullptr;
    void* weights = nullptr;  ///< bf16
    float scale = 1;
    GradientTarget gradient = {};
    Dropout dropout = {};  ///< of what they read; the seed is the layer's
    bool present() const { return layout != nullptr; }
    /// Memory for `tokens` that passes need, taken from `workspace`.
    Workspace take_memory(Workspace& workspace, std::int64_t tokens, DType type) const;
};

/// Those of one product; by default there are none, and nothing is done.
class ProductAdapters {
  public:
    ProductAdapters() = default;
    /// `input`: scale x A^T, which forward writes and backward reads; absent: it has no memory of
    /// its own.
    /// `first_row` of the tokens at hand.
    ProductAdapters(const LayerAdapters& of, const MatrixAdapters& places, Workspace memory,
                    Matrix input, std::int64_t first_row = 0)
        : of_(of), places_(places), memory_(memory), input_(input) {
        of_.dropout.first_row += first_row;
        of_.dropout.seed ^= mixed_bits(static_cast<std::uint64_t>(places.a.offset));
    }
    bool present() const { return of_.present() && places_.present(); }
    /// Each element of y has a part of adapters, to which the frozen product can be added.
    bool whole() const { return present() && places_.whole(); }

    /// y = [addend +] scale (x A^T) B^T; the addend may be absent, or y.
    void forward(Kernels& kernels, Matrix y, Matrix x, Matrix addend);
    /// Backward begins with the gradient of y, which must stay.
    void begin_backward(Kernels& kernels, Matrix dy);
    /// Gradients of A and B, added if `accumulate`.
    void gradients(Kernels& kernels, Matrix x, bool accumulate);
    /// dx = the adapters' part of the gradient of x.
    void input(Kernels& kernels, Matrix dx);

  private:
    Matrix weights(const TensorPlace& place) const {
        return matrix_at(of_.weights, DType::bf16, place);
    }
    /// The columns of `in_all` (tokens, modules x rank) that belong to one of the modules.
    Matrix of_module(const Matrix& in_all, int nth) const {
        return in_all.column_range(nth * of_.layout->rank, of_.layout->rank);
    }
    /// A module with adapters: which of them it is, its B, its first row in the output, its rows.
    struct Module {
        int nth;
        const TensorPlace& b;
        std::int64_t begin;
        Matrix rows;
    };
    template <typename Use>
    void each_module(const Matrix& y, Use use) const;
    /// `x` as adapters read it: where there is dropout, in `memory`.
    Matrix read(Kernels& kernels, Workspace& memory, const Matrix& x) const;
    /// scale x A^T, of x as they read it.
    Matrix down(Kernels& kernels, Workspace& memory, Matrix x) const;

    LayerAdapters of_;
    MatrixAdapters places_;
    Workspace memory_;
    Matrix input_;
    Matrix dy_, gradient_;  ///< of y, and of scale x A^T
};

}  // namespace sluice

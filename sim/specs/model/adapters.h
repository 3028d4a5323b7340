// How do low-rank adapters change a layer (LoRA, arXiv 2106.09685)? Each linear layer y = x W^T,
// frozen, becomes x W^T + (x A^T) B^T, and only A (rank, k) and B (n, rank) are trained.
#pragma once

#include "sim/specs/model/layer_kernels.h"
#include "sim/specs/model/model_spec.h"

namespace sluice {

/// Elements of the adapters of a layer's linear layers; experts whose weights are one tensor have
/// none (`experts_are_stacked`).
std::int64_t adapter_parameters(const ModelSpec& model, const LayerSpec& layer,
                                const AdapterShape& adapters);

/// Tensors of a layer's adapters: an A and a B of each linear layer, as a PyTorch module has them.
std::int64_t adapter_tensors(const ModelSpec& model, const LayerSpec& layer,
                             const AdapterShape& adapters);

/// Modules that one matrix serves, at most: q, k and v.
inline constexpr int kMostModules = 3;

/// Linear layers of a dense layer that have an A and a B.
std::int64_t adapted_modules(const LayerSpec& layer, const AdapterShape& adapters);

/// Linear layers of the same shape that take rows of x together: (rows, n) = (rows, k) (k, n).
struct AdaptedLinear {
    std::int64_t rows = 0, n = 0, k = 0;
    std::int64_t parts = 1;     ///< modules that share the output's n columns, such as q, k and v
    std::int64_t count = 1;     ///< independent ones (experts)
    bool added = false;         ///< to another matrix, of (rows, n)
    bool trained_below = true;  ///< x needs a gradient
    bool whole = true;          ///< all modules of the frozen product have adapters
};

/// Products of the adapters of linear layers, before that of these: in peft two small ones a
/// module, whose result is scaled and added in kernels of their own. Fused: one for A of all
/// modules, and one a module for B, which writes what the frozen product adds to (`with_addend`).
void append_adapter_forward(KernelList& kernels, const AdaptedLinear& linear,
                            const AdapterShape& adapters, KernelStyle style);
/// Gradients of A, B and x: added to that of the frozen layer; or, fused, what that adds to.
/// Fused, forward has kept x A^T, if backward is not to compute it again (`again`).
void append_adapter_backward(KernelList& kernels, const AdaptedLinear& linear,
                             const AdapterShape& adapters, KernelStyle style, bool again = false);

}  // namespace sluice

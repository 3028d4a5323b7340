// Which kernels are a product of a layer and its gradients? In FP8 casts of their operands, too.
#pragma once

#include "sim/specs/model/layer_kernels.h"

namespace sluice {

/// A product knows of a tensor that it reads nothing, or, from the kernel that wrote it, its
/// largest number or its codes.
enum class Known : std::uint8_t { nothing, largest, codes };

class ProductKernels {
  public:
    /// `frozen` weights have no gradients. Where these have adapters, input gradients `add` to
    /// those of adapters.
    /// Weight gradients of experts that are `rounded` are added to sums by a kernel of their own.
    ProductKernels(const ProductPrecision& precision, bool sums_gradients, bool frozen, bool add,
                   bool rounded)
        : precision_(precision),
          sums_gradients_(sums_gradients),
          frozen_(frozen),
          adds_(add),
          rounded_(rounded) {}
    bool fp8() const { return precision_.compute == Compute::fp8; }

    /// y = x W^T, (m, n) = (m, k) (k, n).
    void forward(KernelList& out, const Kernel& product, Known x) const;
    /// Gradients of input (m, k) = dy (m, n) W (n, k) and weights (n, k) = dy^T (n, m) x (m, k).
    void backward(KernelList& out, const Kernel& product, Known dy = Known::nothing,
                  Known x = Known::nothing, bool adapted = true) const;
    /// The products that follow read weights that products before have read in this pass.
    void had_weights() { precision_.weights = after_first(precision_.weights); }
    /// SwiGLU's backward over (rows, width), if it writes codes: gate, up and the product's
    /// gradient are read for the largest numbers, and again to write codes of the gradient of gate
    /// and up in both orders and of the product in one.
    Kernel swiglu_backward(std::int64_t rows, std::int64_t width) const;

  private:
    void cast(KernelList& out, std::int64_t rows, std::int64_t columns, std::int64_t count,
              int orders, Known known) const;
    void cast_weight(KernelList& out, const Kernel& product) const;
    void transpose_weight(KernelList& out, const Kernel& product) const;

    ProductPrecision precision_;
    bool sums_gradients_, frozen_, adds_, rounded_;
};

}  // namespace sluice

// How is a layer's product computed, with its gradients: in bf16, or from operands cast to FP8?
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/layers/adapters.h"
#include "engine/layers/layer_layout.h"
#include "engine/layers/workspace.h"

namespace sluice {

/// A tensor's codes, in the order of its rows and of its columns; without FP8 the tensor. Columns
/// may be absent until a product needs them.
struct CastOperand {
    Matrix rows{}, columns{};
    Fp8Scale* scale = nullptr;
};

/// A tensor of a product. With `scale`, that is where its scale is, whose largest number is known
/// if `measured`. With `codes`, it was cast before, or, if it `casts_first`, is by the product.
struct Operand {
    /// Where a product reads its numbers; those that are `stored` in another form are made there by
    /// each product.
    Matrix values;
    Fp8Scale* scale = nullptr;
    bool measured = true;
    CastOperand codes = {};
    bool casts_first = false;
    struct Stored {
        char* block = nullptr;
        TensorPlace place = {};
        void (*decode)(Kernels& kernels, const Matrix& out, char* block,
                       const TensorPlace& place) = nullptr;
    } stored = {};
    const Matrix& read(Kernels& kernels) const {
        if (stored.decode != nullptr) stored.decode(kernels, values, stored.block, stored.place);
        return values;
    }
};

/// A weight with codes in the order of its columns, taken from `operands`: for the gradients of
/// several products, not for linear(). Without FP8 as it is.
Operand cast_columns_once(Kernels& kernels, Workspace& operands, Operand in);

/// Memory for the codes of SwiGLU's backward pass over `tokens`, taken from `operands`.
SwigluCodes take_swiglu_codes(Workspace& operands, std::int64_t tokens, std::int64_t width);

/// y = x W^T + addend + bias + what adapters make of x; the last three may be absent.
struct Linear {
    Matrix y;
    Operand x, weight;
    Matrix addend = {};
    Vector bias = {};
    ProductAdapters adapters = {};
};

/// In FP8 if there is memory for `operands`. Scales are of whole tensors: x, W in e4m3, dy in e5m2.
void linear(Kernels& kernels, Workspace operands, const Linear& l);

/// Both gradients of a product, in any order; dy is cast once, at the beginning. Weights with
/// adapters are frozen.
class LinearBackward {
  public:
    LinearBackward(Kernels& kernels, Workspace operands, Operand dy, ProductAdapters adapters = {},
                   bool frozen = false);
    /// dW = dy^T x, added to dW if `accumulate`, or the same of the adapters; nothing for frozen
    /// weights without.
    void weight(Matrix dweight, Operand x, bool accumulate);
    /// dx = dy W, with the part of the adapters.
    void input(Matrix dx, Operand weight);

  private:
    Kernels& kernels_;
    Workspace operands_;
    CastOperand dy_;
    ProductAdapters adapters_;
};

}  // namespace sluice

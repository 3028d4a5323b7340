// How is a layer's product computed, with its gradients: in bf16, or from operands cast to FP8?
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/layers/workspace.h"

namespace sluice {

/// y = x W^T + addend + bias; the last two may be absent.
struct Linear {
    Matrix y, x, weight, addend;
    Vector bias;
};

/// dW = dy^T x, dx = dy W. dx may be x.
struct LinearGradient {
    Matrix dy, x, weight, dweight, dx;
};

/// In FP8 if there is memory for `operands`. Of a whole tensor each: x and W in e4m3, dy in e5m2.
void linear(Kernels& kernels, Workspace operands, const Linear& l);
/// Adds to dW if `accumulate`.
void linear_backward(Kernels& kernels, Workspace operands, const LinearGradient& g,
                     bool accumulate);

}  // namespace sluice

// What do the CPU's kernels compute of a few rows? Each function allocates several times the memory
// of its rows, so it is called for pieces of a matrix.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/kernels/matrix.h"

namespace sluice::cpu {

/// x / sqrt(mean(x^2) + epsilon) * weight over the last dimension; x and weight in fp32.
at::Tensor norm(const at::Tensor& x, const at::Tensor& weight, float epsilon);

struct NormGradients {
    at::Tensor dx, dweight;
};
/// Gradients of norm(); dweight is the sum over all rows.
NormGradients norm_backward(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight,
                            float epsilon);

/// Turns element i < d/2 of heads (..., d) with element i + d/2, in place.
void rotate(const at::Tensor& heads, const at::Tensor& cosine, const at::Tensor& sine);

/// Overwrites gate and up by their gradients, given that of silu(gate) * up.
void swiglu_backward(const at::Tensor& gate, const at::Tensor& up, const at::Tensor& dproduct);

/// The rows' sum of losses; overwrites logits by scale x their gradients. Targets as
/// Kernels::cross_entropy.
double cross_entropy(const Matrix& logits, const std::int32_t* targets, float scale);

}  // namespace sluice::cpu

// Which parts do the CPU's kernels share? Views and conversions for libtorch, products, attention,
// and results of a few rows. Slow to include: torch's headers.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include <string_view>

#include "engine/kernels/kernels.h"
#include "sim/base/input_error.h"

namespace sluice::cpu {

inline void require(bool holds, std::string_view kernel, std::string_view expected) {
    if (!holds) throw InternalError(fmt::format("{}: expected {}", kernel, expected));
}

inline at::ScalarType scalar_type(DType type) {
    if (type == DType::e4m3) return at::kFloat8_e4m3fn;
    if (type == DType::e5m2) return at::kFloat8_e5m2;
    return type == DType::bf16 ? at::kBFloat16 : at::kFloat;
}

/// (rows, columns), without copying.
inline at::Tensor view(const Matrix& m) {
    return at::from_blob(m.data, {m.rows, m.columns}, {m.stride, 1}, scalar_type(m.type));
}

/// (size), without copying.
inline at::Tensor view(const Vector& v) {
    return at::from_blob(v.data, {v.size}, scalar_type(v.type));
}

/// Heads [first, first + count) of a matrix whose rows are heads of head_dim elements:
/// (rows, count, head_dim), without copying.
inline at::Tensor view_heads(const Matrix& m, std::int64_t first, std::int64_t count,
                             std::int64_t head_dim) {
    return view(m).narrow(1, first * head_dim, count * head_dim).unflatten(1, {count, head_dim});
}

/// The same numbers in fp32: the memory itself if it is fp32, else a copy.
inline at::Tensor fp32(const at::Tensor& values) { return values.to(at::kFloat); }

/// copy_ and add_ alone would repeat a row or column of 1.
inline void require_place(const at::Tensor& destination, const at::Tensor& values) {
    if (destination.sizes() != values.sizes())
        throw InternalError(fmt::format("CPU kernels: {} numbers computed for a place of {}",
                                        values.numel(), destination.numel()));
}

/// Writes `values` (fp32, of the view's shape) in the view's type, rounded to nearest.
inline void store(const at::Tensor& destination, const at::Tensor& values) {
    require_place(destination, values);
    destination.copy_(values);
}

/// Writes or, if the view is fp32 and `accumulate`, adds.
inline void store_or_add(const at::Tensor& destination, const at::Tensor& values, bool accumulate) {
    if (accumulate && destination.scalar_type() == at::kFloat) {
        require_place(destination, values);
        destination.add_(values);
    } else {
        store(destination, values);
    }
}

/// Like Kernels::gemm. Needs three tiles of 1 MiB at most, whatever the size of the matrices:
/// larger copies of them would be memory that no plan counts, which the C library maps again at
/// each call.
void gemm(const Kernels::Product& product);

/// scale->largest = bits of the largest |number| of `in`, as Fp8Scale has it.
void measure_fp8(const Matrix& in, Fp8Scale* scale);
/// Like Kernels::cast_fp8.
void cast_fp8(const Kernels::Fp8Cast& cast);
void transpose_codes(const Matrix& out, const Matrix& in);

/// Like Kernels::attention, in blocks of queries, so that all scores of a sequence never exist at
/// once. statistics: (sequences, heads, sequence) log-sum-exp of the scaled scores of each query.
void attention(const AttentionShape& shape, Matrix qkv, Matrix out, float* statistics,
               const Documents& documents);

/// Recomputes each block's probabilities from the statistics (arXiv 2205.14135, section 3.1).
void attention_backward(const AttentionShape& shape, Matrix qkv, const float* statistics,
                        Matrix dout, Matrix dqkv, const Documents& documents);

// Each of these allocates several times the memory of its rows, so it is called for pieces of a
// matrix.

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

/// Writes the gradient of gate and up (rows, 2 x width; fp32) to `gradient`, which may be the same
/// memory, given the gradient of silu(gate) * up, and overwrites that by the product.
void swiglu_backward(const at::Tensor& gate_up, const at::Tensor& gradient,
                     const at::Tensor& dproduct);

/// Codes of all rows of gate and up.
void write_eight_bits(const EightBits& codes, const Matrix& gate_up);
/// The numbers of the first `rows` rows: (rows, 2 x width) in fp32.
at::Tensor read_eight_bits(const EightBits& codes, std::int64_t rows);

/// Overwrites the rows in use of `sums`; returns the square that Kernels::sum_rows adds.
double sum_rows(float* sums, const Matrix& gradients, const TokenRows& rows,
                const std::uint16_t* head_gradient);

/// The rows' sum of losses; overwrites logits by scale x their gradients. Targets as in
/// Kernels::cross_entropy.
double cross_entropy(const Matrix& logits, const std::int32_t* targets, float scale);

}  // namespace sluice::cpu

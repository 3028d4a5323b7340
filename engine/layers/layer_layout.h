// Where is each tensor of a layer in its flat range of parameters?
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/kernels/matrix.h"
#include "sim/specs/model/model_spec.h"

namespace sluice {

/// A tensor's place in a flat range, in elements.
struct TensorPlace {
    std::int64_t offset = 0;
    std::int64_t rows = 0;     ///< 0: the layer has no such tensor
    std::int64_t columns = 1;  ///< 1: a vector
    /// Rows of the linear layers that it joins, as in ParameterTensor.
    std::array<std::int64_t, 3> joins = {};
    std::int64_t elements() const { return rows * columns; }
    std::vector<std::int64_t> rows_of_parts() const;
};

/// The tensors of one layer in the order of storage. Each starts at a multiple of 8 elements (16
/// bytes of bf16), which matrix products need.
struct LayerLayout {
    TensorPlace input_norm, feed_forward_norm;
    TensorPlace qkv;                   ///< rows of q, then k, then v
    TensorPlace qkv_bias;              ///< Qwen2
    TensorPlace query_norm, key_norm;  ///< Qwen3
    TensorPlace output;
    TensorPlace router;     ///< a row an expert
    TensorPlace gate_up;    ///< rows of gate, then up, of one expert after another
    TensorPlace down;       ///< likewise
    std::int64_t size = 0;  ///< elements, including the gaps between tensors
};

/// Throws InputError if the trainer has no such layer (latent attention, four norms, ...).
LayerLayout layer_layout(const ModelSpec& model, const LayerSpec& layer);

/// The same tensors in the block of a form that is not bf16: behind `before` bytes vectors in bf16,
/// then matrices of `bytes_of` bytes each. Offsets of vectors are in elements, of matrices in
/// bytes; size is in bytes.
LayerLayout coded_layout(const LayerLayout& layout, std::int64_t before,
                         std::int64_t (*bytes_of)(const TensorPlace& matrix));
/// The members of a layout that such forms code, and the others.
inline constexpr TensorPlace LayerLayout::*kCodedMatrices[] = {
    &LayerLayout::qkv, &LayerLayout::output, &LayerLayout::gate_up, &LayerLayout::down};
inline constexpr TensorPlace LayerLayout::*kVectors[] = {
    &LayerLayout::input_norm, &LayerLayout::feed_forward_norm, &LayerLayout::qkv_bias,
    &LayerLayout::query_norm, &LayerLayout::key_norm};

/// Output projection (absent if tied) and final norm.
struct HeadLayout {
    TensorPlace projection, norm;
    std::int64_t size = 0;
};
HeadLayout head_layout(const ModelSpec& model);

/// Views of a tensor in the flat range that starts at `base`.
Matrix matrix_at(void* base, DType type, const TensorPlace& place);
Vector vector_at(void* base, DType type, const TensorPlace& place);

}  // namespace sluice

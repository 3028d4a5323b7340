// Where is each tensor of a layer in its flat range of parameters?
#pragma once

#include <cstdint>

#include "engine/kernels/matrix.h"
#include "sim/specs/model/model_spec.h"

namespace sluice {

/// A tensor's place in a flat range, in elements.
struct TensorPlace {
    std::int64_t offset = 0;
    std::int64_t rows = 0;     ///< 0: the layer has no such tensor
    std::int64_t columns = 1;  ///< 1: a vector
    std::int64_t elements() const { return rows * columns; }
};

/// The tensors of one dense layer in the order of storage. Each starts at a multiple of 8 elements
/// (16 bytes of bf16), which matrix products need.
struct LayerLayout {
    TensorPlace input_norm, feed_forward_norm;
    TensorPlace qkv;                   ///< rows of q, then k, then v
    TensorPlace qkv_bias;              ///< Qwen2
    TensorPlace query_norm, key_norm;  ///< Qwen3
    TensorPlace output;
    TensorPlace gate_up;  ///< rows of gate, then up
    TensorPlace down;
    std::int64_t size = 0;  ///< elements, including the gaps between tensors
};

/// Throws InputError if the trainer has no such layer (mixtures of experts, four norms, ...).
LayerLayout layer_layout(const ModelSpec& model, const LayerSpec& layer);

/// The same tensors in the block that is copied in place of a layer where codes are streamed: a
/// scale of each matrix, vectors in bf16, matrices in e4m3. Offsets are in elements of a tensor's
/// type; size is in bytes.
LayerLayout coded_layout(const LayerLayout& layout);
/// The members of a layout whose products are in FP8, in the order of their scales, and the others.
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

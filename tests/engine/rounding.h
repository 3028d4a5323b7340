// By how much may a result computed in fp32 be off, in whatever order its sums are added?
#pragma once

#include <cstdint>

#include "sim/specs/model/model_spec.h"

namespace sluice {

/// Error of sums of n terms, as a share of what is added: n u with u = 2^-24, the rounding of fp32
/// (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2). Where sums feed each
/// other, their terms count together. Rounding errors have either sign, so that about the root of n
/// is seen; that leaves room for terms that cancel.
constexpr double fp32_error(std::int64_t terms) { return static_cast<double>(terms) * 0x1p-24; }

/// A number rounded to bf16 is off by up to this share of itself; neighbours are up to twice that
/// apart.
constexpr double kBf16Rounding = 0x1p-8;

/// Terms of the sums, one after another, through which a token goes in a layer. Backward has two
/// products for one of forward.
inline std::int64_t terms_of_forward(const ModelSpec& model, std::int64_t sequence) {
    const LayerSpec& layer = model.kinds.front();
    // Two norms, queries, gate; scores; softmax and its product with values; output; down.
    return 4 * model.hidden + layer.attention.head_dim + 2 * sequence +
           layer.attention.query_width() + layer.feed_forward.intermediate;
}
/// The same of the final norm, the logits and their softmax.
inline std::int64_t terms_of_loss(const ModelSpec& model) {
    return 2 * model.hidden + model.vocabulary;
}

}  // namespace sluice

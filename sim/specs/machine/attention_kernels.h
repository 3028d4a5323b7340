// How fast is an implementation of attention that no profile has a curve of?
#pragma once

#include "sim/specs/model/kernel.h"

namespace sluice {

/// Its rate over FlashAttention-2's on the same GPU, at head_dim 128, as a share of the matrix
/// rate; 1 for those that profiles have curves of.
double over_flash2(const Kernel& kernel);

}  // namespace sluice

// By what factor are gradients scaled so that their norm stays within a limit?
#pragma once

#include <optional>

namespace sluice {

/// min(1, limit / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_ has it; `norm` is the 2-norm of
/// all gradients. Nothing where the norm is not finite: the step must not be taken, as no factor
/// mends it. Throws InputError where the limit is not above 0 (infinity: no limit).
std::optional<double> clip_factor(double norm, double limit);

}  // namespace sluice

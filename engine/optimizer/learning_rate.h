// Which learning rate and clipping factor has a step?
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace sluice {

enum class LearningRateKind : std::uint8_t { cosine, constant, linear };
/// Names as in options and checkpoints, in that order.
inline constexpr std::array kLearningRateNames = {"cosine", "constant", "linear"};

/// Rises linearly to `peak` over the warm-up, then falls to final_fraction x peak at total_steps
/// (half a cosine, or a line), or stays at `peak`.
struct LearningRateSchedule {
    double peak = 1e-3;
    double final_fraction = 0.1;  ///< of peak, 0 to 1; not used by `constant`
    std::int64_t warmup_steps = 0;
    std::int64_t total_steps = 1;  ///< warm-up included
    LearningRateKind kind = LearningRateKind::cosine;
};

/// The rate of `step` (from 1): step warmup_steps has the peak, total_steps and all later ones the
/// final rate. Throws InputError if the schedule is invalid, InternalError if step < 1.
double learning_rate_at(const LearningRateSchedule& schedule, std::int64_t step);

/// min(1, limit / (norm + 1e-6)), as in torch.nn.utils.clip_grad_norm_; `norm` is the 2-norm of all
/// gradients. Empty if the norm is not finite: the step must not be taken, since no factor corrects
/// it. Throws InputError if the limit is not above 0 (infinity: no limit).
std::optional<double> clip_factor(double norm, double limit);

}  // namespace sluice

// Which learning rate and clipping factor has a step?
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace sluice {

/// The course after the warm-up, which rises linearly to the peak.
enum class LearningRateKind : std::uint8_t {
    cosine,    ///< falls to the final rate at the last step, as half a cosine
    constant,  ///< stays at the peak
    linear,    ///< falls to the final rate at the last step
    wsd,       ///< stays at the peak, and falls linearly in the last steps, arXiv 2404.06395
    /// Falls as the square root of the warm-up's steps over those done; without a warm-up, as
    /// that of 10,000 over 10,000 more than those done. As in transformers.
    inverse_sqrt,
};
/// Names as in options and checkpoints, in that order.
inline constexpr std::array kLearningRateNames = {"cosine", "constant", "linear", "wsd",
                                                  "inverse-sqrt"};
/// Whether its rates depend on how many steps there are.
constexpr bool ends_at_a_step(LearningRateKind kind) {
    return kind != LearningRateKind::constant && kind != LearningRateKind::inverse_sqrt;
}

struct LearningRateSchedule {
    double peak = 1e-3;
    double final_fraction = 0.1;  ///< of peak, 0 to 1; for those that end at a step
    std::int64_t warmup_steps = 0;
    std::int64_t total_steps = 1;  ///< warm-up included
    LearningRateKind kind = LearningRateKind::cosine;
    double decay_share = 0.1;  ///< of all steps, in which `wsd` falls, 0 to 1
};

/// The rate of `step` (from 1): step warmup_steps has the peak, total_steps and all later ones the
/// final rate. Throws InputError if the schedule is invalid, InternalError if step < 1.
double learning_rate_at(const LearningRateSchedule& schedule, std::int64_t step);

/// min(1, limit / (norm + 1e-6)), as in torch.nn.utils.clip_grad_norm_; `norm` is the 2-norm of all
/// gradients. Empty if the norm is not finite: the step must not be taken, since no factor corrects
/// it. Throws InputError if the limit is not above 0 (infinity: no limit).
std::optional<double> clip_factor(double norm, double limit);

}  // namespace sluice

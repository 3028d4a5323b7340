#include "engine/optimizer/learning_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

void check_schedule(const LearningRateSchedule& s) {
    if (!(s.peak >= 0) || !std::isfinite(s.peak))
        throw InputError(fmt::format(
            "learning rate: peak is {}, expected a finite number of at least 0", s.peak));
    if (!(s.final_fraction >= 0 && s.final_fraction <= 1))
        throw InputError(
            fmt::format("learning rate: final_fraction is {}, expected 0 to 1", s.final_fraction));
    if (!(s.decay_share >= 0 && s.decay_share <= 1))
        throw InputError(
            fmt::format("learning rate: decay_share is {}, expected 0 to 1", s.decay_share));
    if (s.total_steps < 1)
        throw InputError(
            fmt::format("learning rate: total_steps is {}, expected 1 or more", s.total_steps));
    if (s.warmup_steps < 0 || s.warmup_steps > s.total_steps)
        throw InputError(
            fmt::format("learning rate: warmup_steps is {}, expected 0 to total_steps, which is {}",
                        s.warmup_steps, s.total_steps));
}

/// 1 at the end of the warm-up, or at the first step.
double inverse_root(const LearningRateSchedule& s, std::int64_t step) {
    constexpr double kWithoutWarmup = 10'000;
    if (s.warmup_steps == 0)
        return std::sqrt(kWithoutWarmup / (kWithoutWarmup + static_cast<double>(step - 1)));
    return std::sqrt(static_cast<double>(s.warmup_steps) / static_cast<double>(step));
}

/// 0 before the rate falls, 1 from the last step on.
double share_of_the_fall(const LearningRateSchedule& s, std::int64_t step) {
    std::int64_t begin = s.warmup_steps;
    if (s.kind == LearningRateKind::wsd) {
        const double falls = std::ceil(s.decay_share * static_cast<double>(s.total_steps) - 1e-9);
        begin = std::max(begin, s.total_steps - static_cast<std::int64_t>(falls));
    }
    const auto falling = static_cast<double>(std::max<std::int64_t>(s.total_steps - begin, 1));
    return std::clamp(static_cast<double>(step - begin) / falling, 0.0, 1.0);
}

}  // namespace

double learning_rate_at(const LearningRateSchedule& s, std::int64_t step) {
    check_schedule(s);
    if (step < 1)
        throw InternalError(fmt::format("learning rate: step is {}, expected 1 or more", step));
    if (step < s.warmup_steps)
        return s.peak * static_cast<double>(step) / static_cast<double>(s.warmup_steps);
    if (s.kind == LearningRateKind::constant) return s.peak;
    if (s.kind == LearningRateKind::inverse_sqrt) return s.peak * inverse_root(s, step);
    const double done = share_of_the_fall(s, step);
    const double left = s.kind == LearningRateKind::cosine
                            ? 0.5 * (1 + std::cos(std::numbers::pi * done))
                            : 1 - done;
    return s.peak * (s.final_fraction + (1 - s.final_fraction) * left);
}

std::optional<double> clip_factor(double norm, double limit) {
    if (!(limit > 0))
        throw InputError(
            fmt::format("gradient clipping: the limit is {}, expected above 0", limit));
    if (!std::isfinite(norm)) return std::nullopt;
    if (norm < 0)
        throw InternalError(fmt::format("gradient clipping: the norm is {}, below 0", norm));
    return std::min(1.0, limit / (norm + 1e-6));
}

}  // namespace sluice

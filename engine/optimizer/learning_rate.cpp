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
    if (s.total_steps < 1)
        throw InputError(
            fmt::format("learning rate: total_steps is {}, expected 1 or more", s.total_steps));
    if (s.warmup_steps < 0 || s.warmup_steps > s.total_steps)
        throw InputError(
            fmt::format("learning rate: warmup_steps is {}, expected 0 to total_steps, which is {}",
                        s.warmup_steps, s.total_steps));
}

}  // namespace

double learning_rate_at(const LearningRateSchedule& s, std::int64_t step) {
    check_schedule(s);
    if (step < 1)
        throw InternalError(fmt::format("learning rate: step is {}, expected 1 or more", step));
    if (step < s.warmup_steps)
        return s.peak * static_cast<double>(step) / static_cast<double>(s.warmup_steps);
    if (s.kind == LearningRateKind::constant) return s.peak;
    const auto falling =
        static_cast<double>(std::max<std::int64_t>(s.total_steps - s.warmup_steps, 1));
    const double done = std::min(static_cast<double>(step - s.warmup_steps) / falling, 1.0);
    const double left = s.kind == LearningRateKind::linear
                            ? 1 - done
                            : 0.5 * (1 + std::cos(std::numbers::pi * done));
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

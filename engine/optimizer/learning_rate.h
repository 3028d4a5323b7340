// What is the learning rate at a step?
#pragma once

#include <cstdint>

namespace sluice {

enum class LearningRateKind : std::uint8_t { cosine, constant, linear };

/// Rises linearly to `peak` over the warm-up, then falls to final_fraction x peak at total_steps
/// (half a cosine, or a line), or stays at `peak`.
struct LearningRateSchedule {
    double peak = 1e-3;
    double final_fraction = 0.1;  ///< of peak, 0 to 1; not used by `constant`
    std::int64_t warmup_steps = 0;
    std::int64_t total_steps = 1;  ///< warm-up included
    LearningRateKind kind = LearningRateKind::cosine;
};

/// Of `step`, counted from 1: step warmup_steps has the peak, total_steps and all later ones the
/// final rate. Throws InputError where the schedule makes no sense, InternalError where step < 1.
double learning_rate_at(const LearningRateSchedule& schedule, std::int64_t step);

}  // namespace sluice

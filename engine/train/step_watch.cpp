#include "engine/train/step_watch.h"

namespace sluice {

EnergyCounter energy_counter(std::shared_ptr<const Nvml> gpu) {
    return [gpu = std::move(gpu)] { return gpu ? gpu->energy_j() : std::nullopt; };
}

StepWatch::Passed StepWatch::after_step() {
    constexpr int kWarmUp = 3;
    const Reading before = *last_, now = read();
    last_ = now;
    Passed step{now.at - before.at, std::nullopt};
    if (!before.joules || !now.joules) return step;
    step.gpu_joules = *now.joules - *before.joules;
    if (++steps_ > kWarmUp) {
        seconds_ += step.seconds;
        joules_ += *step.gpu_joules;
    }
    return step;
}

std::optional<double> StepWatch::gpu_watts() const {
    constexpr Seconds kLeast = 2;
    return seconds_ < kLeast ? std::nullopt : std::optional(joules_ / seconds_);
}

}  // namespace sluice

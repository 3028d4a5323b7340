#include "engine/train/step_watch.h"

#include "engine/device/device.h"

namespace sluice {

StepWatch::Reading StepWatch::read() const {
    return {host_seconds(), gpu_ ? gpu_->energy_j() : std::nullopt};
}

void StepWatch::restart() {
    if (!last_) gpu_ = Nvml::open(attached_gpu_bus_id());
    last_ = read();
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

#include "engine/train/energy_watch.h"

#include "engine/device/device.h"

namespace sluice {

EnergyWatch::EnergyWatch() : gpu_(Nvml::open(attached_gpu_bus_id())) { pause(); }

std::optional<EnergyWatch::Reading> EnergyWatch::read() const {
    const auto joules = gpu_ ? gpu_->energy_j() : std::nullopt;
    return joules ? std::optional(Reading{host_seconds(), *joules}) : std::nullopt;
}

void EnergyWatch::pause() { last_ = read(); }

std::optional<double> EnergyWatch::after_step() {
    constexpr int kWarmUp = 3;
    const std::optional<Reading> before = last_;
    last_ = read();
    if (!before || !last_) return std::nullopt;
    const Reading step{last_->at - before->at, last_->joules - before->joules};
    if (++steps_ > kWarmUp) {
        sum_.at += step.at;
        sum_.joules += step.joules;
    }
    return step.joules;
}

std::optional<double> EnergyWatch::watts() const {
    constexpr Seconds kLeast = 2;
    if (sum_.at < kLeast) return std::nullopt;
    return sum_.joules / sum_.at;
}

}  // namespace sluice

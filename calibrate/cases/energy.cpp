#include "calibrate/cases/energy.h"

#include <fmt/format.h>

#include <algorithm>

#include "calibrate/measurement/measurements.h"

namespace sluice {

namespace {

constexpr Seconds kPart = 0.25;

/// Only the samples at which the counter had just advanced.
std::vector<EnergySample> steps_of(std::span<const EnergySample> samples) {
    std::vector<EnergySample> steps;
    for (std::size_t i = 1; i < samples.size(); ++i) {
        if (samples[i].joules != samples[i - 1].joules) steps.push_back(samples[i]);
    }
    return steps;
}

double watts_between(const EnergySample& a, const EnergySample& b) {
    return (b.joules - a.joules) / (b.at - a.at);
}

/// Power over parts of a quarter of a second each, from step to step.
std::vector<double> watts_of_parts(const std::vector<EnergySample>& steps) {
    std::vector<double> watts;
    const EnergySample* begin = &steps.front();
    for (const EnergySample& step : steps) {
        if (step.at - begin->at < kPart) continue;
        watts.push_back(watts_between(*begin, step));
        begin = &step;
    }
    return watts;
}

}  // namespace

std::optional<EnergyReading> energy_reading(std::span<const EnergySample> samples) {
    const std::vector<EnergySample> steps = steps_of(samples);
    if (steps.size() < 2) return std::nullopt;
    const EnergySample &first = steps.front(), &last = steps.back();
    EnergyReading reading;
    reading.seconds = last.at - first.at;
    reading.watts = watts_between(first, last);
    reading.done_per_s = (last.done - first.done) / reading.seconds;
    std::vector<double> parts = watts_of_parts(steps);
    if (parts.empty()) parts.push_back(reading.watts);
    const Sample spread = summarize(parts);
    reading.watts_low = std::min(spread.low, reading.watts);
    reading.watts_high = std::max(spread.high, reading.watts);
    return reading;
}

std::optional<PackageEnergy> PackageEnergy::open(SystemFiles files) {
    PackageEnergy energy(std::move(files));
    for (int number = 0;; ++number) {
        const std::string path = fmt::format("sys/class/powercap/intel-rapl:{}/", number);
        const auto now = energy.files_.integer(path + "energy_uj");
        const auto range = energy.files_.integer(path + "max_energy_range_uj");
        if (!now || !range) break;
        // Others, such as psys, repeat energy of the packages.
        if (!energy.files_.text(path + "name").starts_with("package")) continue;
        energy.packages_.push_back(
            {path + "energy_uj", static_cast<double>(*range), static_cast<double>(*now), 0});
    }
    if (energy.packages_.empty()) return std::nullopt;
    return energy;
}

double PackageEnergy::joules() {
    double sum = 0;
    for (Package& package : packages_) {
        if (const auto value = files_.integer(package.path)) {
            const auto now = static_cast<double>(*value);
            const double more = now - package.last_uj;
            package.sum_uj += more >= 0 ? more : more + package.range_uj;
            package.last_uj = now;
        }
        sum += package.sum_uj;
    }
    return sum / kMega;
}

}  // namespace sluice

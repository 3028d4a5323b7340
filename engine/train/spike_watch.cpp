#include "engine/train/spike_watch.h"

#include <cmath>
#include <limits>

namespace sluice {
namespace {

constexpr std::size_t kWindow = 128, kLeastKnown = 64;  // steps

}  // namespace

double SpikeWatch::limit(double RecentStep::*number) const {
    if (recent_.size() < kLeastKnown) return std::numeric_limits<double>::infinity();
    const auto count = static_cast<double>(recent_.size());
    double sum = 0, squares = 0;
    for (const RecentStep& step : recent_) sum += step.*number;
    const double mean = sum / count;
    for (const RecentStep& step : recent_) squares += (step.*number - mean) * (step.*number - mean);
    return mean + deviations_ * std::sqrt(squares / (count - 1));
}

StepLimits SpikeWatch::limits() const {
    return {limit(&RecentStep::loss), limit(&RecentStep::gradient_norm)};
}

void SpikeWatch::add(RecentStep step) {
    if (!std::isfinite(step.loss) || !std::isfinite(step.gradient_norm) || step.gradient_norm == 0)
        return;
    recent_.push_back(step);
    if (recent_.size() > kWindow) recent_.erase(recent_.begin());
}

}  // namespace sluice

#include "planner-gui/pictures/value_scale.h"

#include <algorithm>
#include <cmath>

#include "sim/report/svg_geometry.h"
#include "sim/report/validate/log_axis.h"

namespace sluice {
namespace {

constexpr double kWide = 10;
constexpr int kMostTicks = 6;

}  // namespace

ValueScale::ValueScale(const std::vector<double>& values) {
    if (values.empty()) return;
    empty_ = false;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    low_ = *low;
    high_ = *high;
    logarithmic_ = low_ > 0 && high_ > kWide * low_;
}

double ValueScale::share(double value) const {
    if (high_ <= low_) return 0.5;
    const double place = logarithmic_ ? std::log(value / low_) / std::log(high_ / low_)
                                      : (value - low_) / (high_ - low_);
    return std::clamp(place, 0.0, 1.0);
}

std::vector<double> ValueScale::ticks() const {
    std::vector<double> out;
    if (empty_) return out;
    if (logarithmic_) {
        out = LogAxis({low_, high_}).ticks();
        std::erase_if(out, [&](double tick) { return tick < low_ || tick > high_; });
    } else if (high_ > low_) {
        const double step = round_tick(high_ - low_, kMostTicks);
        for (double i = std::ceil(low_ / step); i * step <= high_; ++i) out.push_back(i * step);
    }
    if (out.empty()) out = high_ > low_ ? std::vector{low_, high_} : std::vector{low_};
    return out;
}

}  // namespace sluice

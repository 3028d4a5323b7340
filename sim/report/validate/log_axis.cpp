#include "sim/report/validate/log_axis.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

// So that no point lies on the frame, and a single one has an axis.
constexpr double kRoom = 1.25;

std::vector<double> multiples(double low, double high, const std::vector<double>& factors) {
    std::vector<double> found;
    const int first = static_cast<int>(std::floor(std::log10(low)));
    for (int power = first; std::pow(10.0, power) <= high; ++power)
        for (const double factor : factors)
            if (const double value = factor * std::pow(10.0, power); value >= low && value <= high)
                found.push_back(value);
    return found;
}

}  // namespace

LogAxis::LogAxis(const std::vector<double>& values)
    : low_(*std::min_element(values.begin(), values.end()) / kRoom),
      high_(*std::max_element(values.begin(), values.end()) * kRoom) {}

double LogAxis::share(double value) const {
    return std::log(value / low_) / std::log(high_ / low_);
}

std::vector<double> LogAxis::ticks() const {
    constexpr std::size_t kFewest = 3, kMost = 9;
    const std::vector<double> coarse = multiples(low_, high_, {1});
    if (coarse.size() > kMost / 2) return coarse;
    std::vector<double> ticks = multiples(low_, high_, {1, 2, 5});
    if (ticks.size() >= kFewest) return ticks;
    // No two neighbours are further apart than 1.5: an axis is at least 1.25 x 1.25 long.
    return multiples(low_, high_, {1, 1.5, 2, 3, 4, 5, 7});
}

}  // namespace sluice

#include "calibrate/measurement/statistics.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

double quantile_of_sorted(const std::vector<double>& sorted, double share) {
    const double position = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (position - std::floor(position)) * (sorted[above] - sorted[below]);
}

std::vector<double> sorted_copy(std::span<const double> values) {
    std::vector<double> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

}  // namespace

double quantile(std::span<const double> values, double share) {
    return quantile_of_sorted(sorted_copy(values), share);
}

Sample summarize(std::span<const double> values) {
    const std::vector<double> sorted = sorted_copy(values);
    return {quantile_of_sorted(sorted, 0.5), quantile_of_sorted(sorted, 0.05),
            quantile_of_sorted(sorted, 0.95), static_cast<int>(sorted.size())};
}

Sample rate_of(double amount, const Sample& seconds) {
    return {amount / seconds.median, amount / seconds.high, amount / seconds.low, seconds.count};
}

}  // namespace sluice

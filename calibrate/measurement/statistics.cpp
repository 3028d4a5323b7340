#include "calibrate/measurement/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

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

FitError fit_error(std::span<const double> predicted, std::span<const double> measured) {
    FitError error;
    if (measured.empty()) return error;
    std::vector<double> percent;
    for (std::size_t i = 0; i < measured.size(); ++i) {
        percent.push_back(100 * (predicted[i] / measured[i] - 1));
        error.mean_percent += std::abs(percent.back());
        error.worst_percent = std::max(error.worst_percent, std::abs(percent.back()));
    }
    error.shapes = static_cast<int>(percent.size());
    error.mean_percent /= error.shapes;
    const Sample range = summarize(percent);
    error.low_percent = range.low;
    error.high_percent = range.high;
    return error;
}

}  // namespace sluice

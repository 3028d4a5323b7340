#include "calibrate/fit/fit_error.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "calibrate/measurement/statistics.h"

namespace sluice {

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

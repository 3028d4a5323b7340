#include <cmath>
#include <limits>

#include "calibrate/cases/kernel_shapes.h"

namespace sluice {

namespace {

using Point = std::vector<double>;

/// Logarithms of the sizes.
std::vector<Point> points_of(const std::vector<ShapeSize>& sizes) {
    std::vector<Point> out;
    for (const ShapeSize& size : sizes) {
        Point& point = out.emplace_back();
        for (const std::int64_t part : size)
            point.push_back(std::log2(part == 0 ? 0.5 : static_cast<double>(part)));
    }
    return out;
}

double square_distance(const Point& a, const Point& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/// The point whose choice reduces the sum of squared distances most; `nearest` are the distances to
/// the points chosen so far.
std::size_t most_central(const std::vector<Point>& points, const std::vector<double>& nearest) {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t choice = 0; choice < points.size(); ++choice) {
        double sum = 0;
        for (std::size_t i = 0; i < points.size() && sum < least; ++i)
            sum += std::min(nearest[i], square_distance(points[choice], points[i]));
        if (sum >= least) continue;
        least = sum;
        best = choice;
    }
    return best;
}

}  // namespace

std::vector<ShapeSize> spread_evenly(std::vector<ShapeSize> candidates, std::size_t count) {
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    const std::vector<Point> points = points_of(candidates);
    constexpr double kFar = 1e6;  // where nothing is chosen yet
    std::vector<double> nearest(points.size(), kFar);
    std::vector<ShapeSize> out;
    while (out.size() < std::min(count, candidates.size())) {
        const std::size_t choice = out.size() % 3 == 2
                                       ? static_cast<std::size_t>(std::distance(
                                             nearest.begin(), std::ranges::max_element(nearest)))
                                       : most_central(points, nearest);
        out.push_back(candidates[choice]);
        for (std::size_t i = 0; i < points.size(); ++i)
            nearest[i] = std::min(nearest[i], square_distance(points[choice], points[i]));
    }
    return out;
}

}  // namespace sluice

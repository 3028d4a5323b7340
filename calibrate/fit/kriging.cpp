#include "calibrate/fit/kriging.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice {
namespace {

Eigen::MatrixXd distances(const std::vector<std::vector<double>>& points) {
    const auto count = static_cast<Eigen::Index>(points.size());
    const auto width = static_cast<Eigen::Index>(points.front().size());
    Eigen::MatrixXd result(count, count);
    for (Eigen::Index i = 0; i < count; ++i) {
        const Eigen::Map<const Eigen::VectorXd> from(points[static_cast<std::size_t>(i)].data(),
                                                     width);
        for (Eigen::Index j = 0; j <= i; ++j) {
            const Eigen::Map<const Eigen::VectorXd> to(points[static_cast<std::size_t>(j)].data(),
                                                       width);
            result(i, j) = result(j, i) = (from - to).norm();
        }
    }
    return result;
}

Kriging solve(const Eigen::MatrixXd& distance, std::span<const double> values,
              const std::vector<double>& noise, double length) {
    const Eigen::Map<const Eigen::VectorXd> measured(values.data(),
                                                     static_cast<Eigen::Index>(values.size()));
    Kriging result;
    result.length = length;
    result.noise = noise;
    result.variance = measured.squaredNorm() / static_cast<double>(values.size());
    Eigen::MatrixXd covariance = result.variance * (-distance / length).array().exp().matrix();
    covariance.diagonal() += Eigen::Map<const Eigen::VectorXd>(noise.data(), distance.rows());
    const Eigen::MatrixXd inverse =
        covariance.llt().solve(Eigen::MatrixXd::Identity(distance.rows(), distance.rows()));
    const Eigen::VectorXd explained = inverse * measured;
    const Eigen::VectorXd weight = result.variance * explained;
    const Eigen::VectorXd error = explained.cwiseQuotient(inverse.diagonal());
    result.weight.assign(weight.begin(), weight.end());
    result.left_out_error.assign(error.begin(), error.end());
    return result;
}

double mean_square(std::span<const double> values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return sum / static_cast<double>(values.size());
}

}  // namespace

Kriging krige(const std::vector<std::vector<double>>& points, std::span<const double> values,
              const std::vector<double>& noise, double length) {
    return solve(distances(points), values, noise, length);
}

Kriging best_kriging(const std::vector<std::vector<double>>& points, std::span<const double> values,
                     const std::vector<double>& least_noise) {
    const Eigen::MatrixXd distance = distances(points);
    const double variance = mean_square(values);
    Kriging best;
    double least_error = std::numeric_limits<double>::infinity();
    for (const double length : {0.5, 1.0, 2.0, 4.0, 8.0, 16.0}) {
        for (const double share : {0.01, 0.03, 0.1, 0.3, 1.0, 3.0}) {
            std::vector<double> noise = least_noise;
            for (double& of_point : noise) of_point = std::max(of_point, share * variance);
            Kriging candidate = solve(distance, values, noise, length);
            const double error = mean_square(candidate.left_out_error);
            if (error < least_error) {
                least_error = error;
                best = std::move(candidate);
            }
        }
    }
    return best;
}

}  // namespace sluice

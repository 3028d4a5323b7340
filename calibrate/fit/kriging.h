// What do values measured at some points say of the points between them?
#pragma once

#include <span>
#include <vector>

namespace sluice {

/// Simple kriging with mean 0 and covariance variance x exp(-distance / length): the value expected
/// at x is the sum over points i of weight_i exp(-|x - x_i| / length).
struct Kriging {
    double length = 1;  ///< in the unit of the coordinates
    double variance = 0;
    std::vector<double> noise;           ///< variance of each measurement
    std::vector<double> weight;          ///< of each measurement
    std::vector<double> left_out_error;  ///< measured less what the others say of it
};

/// With this length and noise; the variance is the mean square of the values. Weights are
/// (K + noise)^-1 value (Rasmussen and Williams, Gaussian Processes for Machine Learning,
/// eq. 2.25), errors without one point theirs of eq. 5.12. Precondition: a value and a noise > 0
/// for each point, at least one.
Kriging krige(const std::vector<std::vector<double>>& points, std::span<const double> values,
              const std::vector<double>& noise, double length);

/// The length of 0.5, 1, 2, 4, 8, 16 and the noise, from a hundredth to three times the variance
/// but at least `least_noise` of each point, whose errors without one point have the least mean
/// square.
Kriging best_kriging(const std::vector<std::vector<double>>& points, std::span<const double> values,
                     const std::vector<double>& least_noise);

}  // namespace sluice

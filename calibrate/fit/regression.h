// Which relation goes through these measurements, what do they say of the points between them, and
// how sure is that?
#pragma once

#include <span>
#include <vector>

namespace sluice {

/// One row a measurement, one number a feature; all rows of the same length.
using FeatureRows = std::vector<std::vector<double>>;

struct LinearFit {
    std::vector<double> coefficient;  ///< of each feature
    std::vector<double> standard_error;
    std::vector<double> low, high;  ///< 5th and 95th percentile of each coefficient
    double deviation = 0;           ///< of the weighted residuals
    int degrees_of_freedom = 0;
};

/// Weights that make errors shares of what was measured: 1 / value. Precondition: no value is 0.
std::vector<double> relative_weights(std::span<const double> values);

/// Minimizes the sum of (weight (value - coefficient . features))^2. Errors and ranges assume
/// independent normal residuals of one deviation once weighted (Student's t); they are infinite
/// where there are not more measurements than features, or features are collinear (then the
/// coefficients are the smallest ones). Precondition: at least one row and feature, one value and
/// weight a row.
LinearFit least_squares(const FeatureRows& features, std::span<const double> values,
                        std::span<const double> weights);

/// The same minimum among coefficients that are all at least 0 (Lawson and Hanson, Solving Least
/// Squares Problems, 1974, chapter 23). Features may be collinear, constant or 0.
std::vector<double> non_negative_least_squares(const FeatureRows& features,
                                               std::span<const double> values,
                                               std::span<const double> weights);

/// The number that Student's t with `degrees` of freedom stays below with this probability.
/// Precondition: 0 < probability < 1, degrees > 0.
double student_t_quantile(double probability, double degrees);

enum class Monotone { increasing, decreasing };

/// The monotone values that minimize the sum of weight (value - result)^2, in the order given: pool
/// adjacent violators (Barlow, Bartholomew, Bremner and Brunk 1972). Equal neighbours are allowed.
/// Precondition: one weight a value, all > 0.
std::vector<double> isotonic(std::span<const double> values, std::span<const double> weights,
                             Monotone direction);

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

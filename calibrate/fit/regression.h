// Which function fits these measurements, what does it predict between them, and how sure is that?
#pragma once

#include <span>
#include <vector>

namespace sluice {

/// One row per measurement, one number per feature; all rows have the same length.
using FeatureRows = std::vector<std::vector<double>>;

struct LinearFit {
    std::vector<double> coefficient;  ///< of each feature
    std::vector<double> low, high;    ///< 5th and 95th percentile of each coefficient
    double deviation = 0;             ///< of the weighted residuals
    int degrees_of_freedom = 0;
};

/// Weights that make errors relative to the measured values: 1 / value. Precondition: no value is
/// 0.
std::vector<double> relative_weights(std::span<const double> values);

/// Minimizes the sum of (weight (value - coefficient . features))^2. Errors and ranges assume
/// independent normal residuals of one deviation after weighting (Student's t). They are infinite
/// if there are no more measurements than features, or features are collinear (the coefficients are
/// then the smallest ones). Precondition: at least one row and feature, one value and weight per
/// row.
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

/// The monotone values that minimize the sum of weight (value - result)^2, in the given order: pool
/// adjacent violators (Barlow, Bartholomew, Bremner and Brunk 1972). Equal neighbours are allowed.
/// Precondition: one weight per value, all > 0.
std::vector<double> isotonic(std::span<const double> values, std::span<const double> weights,
                             Monotone direction);

/// Simple kriging with mean 0 and covariance variance x exp(-distance / length): the expected value
/// at x is the sum over points i of weight_i exp(-|x - x_i| / length).
struct Kriging {
    double length = 1;  ///< in the unit of the coordinates
    double variance = 0;
    std::vector<double> noise;   ///< variance of each measurement
    std::vector<double> weight;  ///< of each measurement
    /// Measured value less the prediction from the other points.
    std::vector<double> left_out_error;
};

/// With this length and noise; the variance is the mean square of the values. Weights are (K +
/// noise)^-1 value (Rasmussen and Williams, Gaussian Processes for Machine Learning, eq. 2.25),
/// leave-one-out errors follow eq. 5.12. Precondition: one value and noise > 0 per point, at least
/// one point.
Kriging krige(const std::vector<std::vector<double>>& points, std::span<const double> values,
              const std::vector<double>& noise, double length);

/// Tries lengths of 0.5, 1, 2, 4, 8, 16 and noises from a hundredth to three times the variance,
/// but at least each point's `least_noise`. Takes those with the smallest mean square of
/// leave-one-out errors.
Kriging best_kriging(const std::vector<std::vector<double>>& points, std::span<const double> values,
                     const std::vector<double>& least_noise);

}  // namespace sluice

// Which linear relation goes through these measurements, and how sure are its coefficients?
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

}  // namespace sluice

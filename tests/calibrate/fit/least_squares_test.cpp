#include <cmath>
#include <random>

#include "calibrate/fit/regression.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

std::vector<double> ones(std::size_t count) { return std::vector<double>(count, 1); }

/// 1 and x.
FeatureRows line_rows(const std::vector<double>& x) {
    FeatureRows rows;
    for (const double value : x) rows.push_back({1, value});
    return rows;
}

double squared_error(const FeatureRows& rows, const std::vector<double>& values,
                     const std::vector<double>& coefficient) {
    double sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        double error = values[i];
        for (std::size_t j = 0; j < coefficient.size(); ++j) error -= coefficient[j] * rows[i][j];
        sum += error * error;
    }
    return sum;
}

}  // namespace

TEST_CASE("least squares: a line through five points, by hand", "[fit]") {
    // Means 3 and 2.06; sum (x - 3)(y - mean) = 4.25, sum (x - 3)^2 = 10: slope 0.425, at 0 0.785.
    // Squares of the residuals 2.79075; deviation sqrt(2.79075 / 3); of the slope over sqrt(10), at
    // 0 times sqrt(1/5 + 9/10). t at 95% and 3 degrees of freedom: 2.3534.
    const std::vector<double> y = {1, 2, 1.3, 3.75, 2.25};
    const LinearFit fit = least_squares(line_rows({1, 2, 3, 4, 5}), y, ones(5));
    CHECK(fit.coefficient[0] == Approx(0.785));
    CHECK(fit.coefficient[1] == Approx(0.425));
    CHECK(fit.degrees_of_freedom == 3);
    CHECK(fit.deviation == Approx(0.96449).epsilon(1e-4));
    CHECK(fit.low[0] == Approx(0.785 - 2.3534 * 1.01157).epsilon(1e-4));
    CHECK(fit.low[1] == Approx(0.425 - 2.3534 * 0.30500).epsilon(1e-4));
    CHECK(fit.high[1] == Approx(0.425 + 2.3534 * 0.30500).epsilon(1e-4));
}

TEST_CASE("least squares: the range holds the truth nine times in ten", "[fit]") {
    // Copies: 12 us and 0.02 us a KiB, measured with 2% noise, over six decades of units.
    std::mt19937 random(7);
    std::normal_distribution<double> noise(0, 0.02);
    int latency_inside = 0, slope_inside = 0;
    constexpr int kTrials = 1000;
    double deviation = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
        std::vector<double> kib, us;
        for (double size = 4; size < 1e6; size *= 4) {
            kib.push_back(size);
            us.push_back((12 + 0.02 * size) * (1 + noise(random)));
        }
        const LinearFit fit = least_squares(line_rows(kib), us, relative_weights(us));
        latency_inside += fit.low[0] <= 12 && 12 <= fit.high[0] ? 1 : 0;
        slope_inside += fit.low[1] <= 0.02 && 0.02 <= fit.high[1] ? 1 : 0;
        deviation += fit.deviation / kTrials;
    }
    CHECK(latency_inside == Approx(900).margin(40));  // four deviations of a count of 1000
    CHECK(slope_inside == Approx(900).margin(40));
    CHECK(deviation == Approx(0.02).epsilon(0.05));
}

TEST_CASE("least squares: errors in percent do not let large values decide", "[fit]") {
    const FeatureRows rows = {{1}, {1}};
    const std::vector<double> values = {1, 100};
    CHECK(least_squares(rows, values, ones(2)).coefficient[0] == Approx(50.5));
    // Minimum of (1 - c)^2 + (1 - c / 100)^2: c = 1.01 / 1.0001.
    CHECK(least_squares(rows, values, relative_weights(values)).coefficient[0] ==
          Approx(1.01 / 1.0001));
}

TEST_CASE("least squares: what the measurements cannot tell has no finite range", "[fit]") {
    const LinearFit exact = least_squares({{1, 1}, {1, 2}}, std::vector<double>{3, 5}, ones(2));
    CHECK(exact.coefficient[1] == Approx(2));
    CHECK(exact.degrees_of_freedom == 0);
    CHECK(std::isinf(exact.high[1]));

    const FeatureRows collinear = {{1, 2}, {2, 4}, {3, 6}, {4, 8}};
    const LinearFit fit = least_squares(collinear, std::vector<double>{5, 10, 15, 20}, ones(4));
    CHECK(fit.coefficient[0] + 2 * fit.coefficient[1] == Approx(5));
    CHECK(std::isinf(fit.high[0]));
}

TEST_CASE("non-negative least squares: equals the unconstrained where that is positive", "[fit]") {
    const auto found = non_negative_least_squares(line_rows({1, 2, 3, 4}),
                                                  std::vector<double>{3, 5, 7, 9}, ones(4));
    CHECK(found[0] == Approx(1));
    CHECK(found[1] == Approx(2));
}

TEST_CASE("non-negative least squares: a negative coefficient becomes 0, and the others follow",
          "[fit]") {
    // Unconstrained y = -1 + 2x. Without the constant: sum xy / sum x^2 = (1 + 6 + 15) / 14.
    const auto found =
        non_negative_least_squares(line_rows({1, 2, 3}), std::vector<double>{1, 3, 5}, ones(3));
    CHECK(found[0] == 0);
    CHECK(found[1] == Approx(22.0 / 14));
    // All would be negative.
    const auto none =
        non_negative_least_squares(line_rows({1, 2, 3}), std::vector<double>{-1, -3, -5}, ones(3));
    CHECK(none == std::vector<double>{0, 0});
}

TEST_CASE("non-negative least squares: collinear, constant and empty features do no harm",
          "[fit]") {
    FeatureRows rows;
    std::vector<double> values;
    for (double x = 1; x <= 6; ++x) {
        rows.push_back({1, x, 1e6 * x, 0, 5});
        values.push_back(2 + 3 * x);
    }
    const auto found = non_negative_least_squares(rows, values, relative_weights(values));
    for (const double coefficient : found) CHECK(coefficient >= 0);
    CHECK(squared_error(rows, values, found) < 1e-20);
}

TEST_CASE("non-negative least squares: no subset of the features does better", "[fit]") {
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    for (int trial = 0; trial < 50; ++trial) {
        constexpr std::size_t kWidth = 4, kRows = 8;
        FeatureRows rows(kRows, std::vector<double>(kWidth));
        std::vector<double> values(kRows);
        for (std::size_t i = 0; i < kRows; ++i) {
            for (double& feature : rows[i]) feature = normal(random);
            values[i] = normal(random);
        }
        const double found =
            squared_error(rows, values, non_negative_least_squares(rows, values, ones(kRows)));
        double best = squared_error(rows, values, {});
        for (unsigned subset = 1; subset < 1U << kWidth; ++subset) {
            FeatureRows some(kRows);
            for (std::size_t i = 0; i < kRows; ++i) {
                for (std::size_t j = 0; j < kWidth; ++j) {
                    if ((subset >> j & 1U) != 0) some[i].push_back(rows[i][j]);
                }
            }
            const LinearFit fit = least_squares(some, values, ones(kRows));
            bool allowed = true;
            for (const double coefficient : fit.coefficient) allowed &= coefficient >= 0;
            if (allowed) best = std::min(best, squared_error(some, values, fit.coefficient));
        }
        CHECK(found == Approx(best).epsilon(1e-9));
    }
}

TEST_CASE("Student's t: quantiles as in printed tables", "[fit]") {
    const auto t = [](double probability, double degrees) {
        return student_t_quantile(probability, degrees);
    };
    CHECK(t(0.95, 1) == Approx(6.3138).margin(5e-5));
    CHECK(t(0.95, 2) == Approx(2.9200).margin(5e-5));
    CHECK(t(0.95, 5) == Approx(2.0150).margin(5e-5));
    CHECK(t(0.95, 10) == Approx(1.8125).margin(5e-5));
    CHECK(t(0.95, 30) == Approx(1.6973).margin(5e-5));
    CHECK(t(0.975, 10) == Approx(2.2281).margin(5e-5));
    CHECK(t(0.995, 4) == Approx(4.6041).margin(5e-5));
    CHECK(t(0.95, 1e6) == Approx(1.64485).margin(5e-5));  // normal
    CHECK(t(0.05, 10) == Approx(-1.8125).margin(5e-5));
    CHECK(t(0.5, 3) == Approx(0).margin(1e-6));
}

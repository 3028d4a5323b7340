#include <cmath>

#include "calibrate/fit/regression.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

double predict(const Kriging& kriging, const std::vector<std::vector<double>>& points, double x) {
    double sum = 0;
    for (std::size_t i = 0; i < points.size(); ++i)
        sum += kriging.weight[i] * std::exp(-std::abs(x - points[i][0]) / kriging.length);
    return sum;
}

}  // namespace

TEST_CASE("kriging: one value shrinks by the share of noise and fades with distance", "[fit]") {
    // Variance 0.04 of one value 0.2: predicted 0.2 x 0.04 / (0.04 + 0.01) = 0.16 there, and 0.16/e
    // one length away.
    const std::vector<std::vector<double>> points = {{3}};
    const Kriging kriging = krige(points, std::vector<double>{0.2}, {0.01}, 2);
    CHECK(kriging.variance == Approx(0.04));
    CHECK(predict(kriging, points, 3) == Approx(0.16));
    CHECK(predict(kriging, points, 5) == Approx(0.16 / std::exp(1)));
    CHECK(kriging.left_out_error[0] == Approx(0.2));
}

TEST_CASE("kriging: errors in closed form are those of leaving each value out", "[fit]") {
    const std::vector<std::vector<double>> points = {{0}, {1}, {2.5}, {4}};
    const std::vector<double> values = {0.1, -0.1, 0.05, 0.2}, noise = {0.001, 0.002, 0.001, 0.003};
    const Kriging all = krige(points, values, noise, 1.5);
    for (std::size_t left_out = 0; left_out < points.size(); ++left_out) {
        auto others = points;
        auto other_values = values;
        auto other_noise = noise;
        const auto at = static_cast<std::ptrdiff_t>(left_out);
        others.erase(others.begin() + at);
        other_values.erase(other_values.begin() + at);
        other_noise.erase(other_noise.begin() + at);
        // The variance is estimated from the values: noise relative to it must be that of all.
        const double variance = krige(others, other_values, other_noise, 1.5).variance;
        for (double& of_point : other_noise) of_point *= variance / all.variance;
        const Kriging without = krige(others, other_values, other_noise, 1.5);
        CHECK(all.left_out_error[left_out] ==
              Approx(values[left_out] - predict(without, others, points[left_out][0])));
    }
}

TEST_CASE("kriging: a smooth curve gets a long reach, noise none", "[fit]") {
    std::vector<std::vector<double>> points;
    std::vector<double> smooth, rough;
    for (int i = 0; i < 24; ++i) {
        points.push_back({static_cast<double>(i)});
        smooth.push_back(0.1 * std::sin(i / 6.0));
        rough.push_back(i % 2 == 0 ? 0.1 : -0.1);
    }
    const std::vector<double> least(points.size(), 1e-8);
    const Kriging curve = best_kriging(points, smooth, least);
    CHECK(curve.length >= 4);
    CHECK(predict(curve, points, 10.5) == Approx(0.1 * std::sin(10.5 / 6.0)).epsilon(0.02));
    const Kriging noise = best_kriging(points, rough, least);
    CHECK(std::abs(predict(noise, points, 10.5)) < 0.02);
    for (const double of_point : curve.noise) CHECK(of_point >= 0.01 * curve.variance);
}

TEST_CASE("kriging: values of 0 stay 0, and noise is at least what was measured", "[fit]") {
    const std::vector<std::vector<double>> points = {{0}, {1}, {2}};
    const Kriging zero = best_kriging(points, std::vector<double>{0, 0, 0}, {1e-6, 1e-6, 1e-6});
    for (const double weight : zero.weight) CHECK(weight == 0);
    const Kriging noisy = best_kriging(points, std::vector<double>{0.1, 0.1, 0.1}, {0.5, 1, 2});
    CHECK(noisy.noise == std::vector<double>{0.5, 1, 2});
}

#include "calibrate/fit/regression.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

std::vector<double> fit(const std::vector<double>& values, Monotone direction) {
    return isotonic(values, std::vector<double>(values.size(), 1), direction);
}

}  // namespace

TEST_CASE("isotonic: what is monotone stays", "[fit]") {
    CHECK(fit({1, 2, 2, 5}, Monotone::increasing) == std::vector<double>{1, 2, 2, 5});
    CHECK(fit({5, 2, 1}, Monotone::decreasing) == std::vector<double>{5, 2, 1});
    CHECK(fit({}, Monotone::increasing).empty());
}

TEST_CASE("isotonic: neighbours in the wrong order become their mean", "[fit]") {
    CHECK(fit({1, 3, 2, 4}, Monotone::increasing) == std::vector<double>{1, 2.5, 2.5, 4});
    CHECK(fit({4, 2, 3, 1}, Monotone::decreasing) == std::vector<double>{4, 2.5, 2.5, 1});
    // 5 is pooled with 4 (4.5), both with 0 (3); 2 stays below.
    CHECK(fit({2, 5, 4, 0}, Monotone::increasing) == std::vector<double>{2, 3, 3, 3});
    CHECK(fit({3, 2, 1}, Monotone::increasing) == std::vector<double>{2, 2, 2});
}

TEST_CASE("isotonic: weights count as repeated values", "[fit]") {
    const std::vector<double> values = {1, 4, 1}, weights = {1, 1, 3};
    const std::vector<double> result = isotonic(values, weights, Monotone::increasing);
    CHECK(result[0] == Approx(1));
    CHECK(result[1] == Approx(1.75));  // (4 + 3 x 1) / 4
    CHECK(result[2] == Approx(1.75));
}

// Is a curve followed between its points, and constant outside?
#include <cmath>

#include "sim/specs/machine/curves.h"
#include "tests/catch.h"

namespace sluice {

TEST_CASE("interpolated: linear in the logarithm of x between points, constant outside",
          "[machine]") {
    const Interpolated curve({{1, 10}, {100, 30}, {1000, 20}});
    CHECK(curve.at(1) == 10);
    CHECK(curve.at(10) == Approx(20));  // half way from 1 to 100 in log(x)
    CHECK(curve.at(100) == 30);
    CHECK(curve.at(std::sqrt(100.0 * 1000.0)) == Approx(25));
    CHECK(curve.at(0.5) == 10);
    CHECK(curve.at(1e9) == 20);
    CHECK(Interpolated({{7, 3}}).at(1000) == 3);
    CHECK(Interpolated().empty());
    CHECK_FALSE(curve.empty());
}

TEST_CASE("interpolated: of two points with the same x neither divides by zero", "[machine]") {
    const Interpolated step({{1, 10}, {4, 20}, {4, 30}, {16, 40}});
    CHECK(step.at(2) == Approx(15));
    CHECK(step.at(8) == Approx(35));
    CHECK(std::isfinite(step.at(4)));
}

}  // namespace sluice

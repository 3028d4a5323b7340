#include "planner-gui/pictures/value_scale.h"

#include "tests/catch.h"

namespace sluice {

TEST_CASE("a scale is linear, and logarithmic beyond ten", "[pictures]") {
    const ValueScale linear({100, 400, 250});
    CHECK_FALSE(linear.logarithmic());
    CHECK(linear.share(100) == 0);
    CHECK(linear.share(250) == 0.5);
    CHECK(linear.ticks() == std::vector<double>{100, 150, 200, 250, 300, 350, 400});
    const ValueScale wide({1, 100});
    CHECK(wide.logarithmic());
    CHECK(wide.share(10) == Approx(0.5));
    CHECK(wide.ticks().front() == 1);
    CHECK(wide.ticks().back() == 100);
    CHECK(ValueScale({}).empty());
    CHECK(ValueScale({}).ticks().empty());
    CHECK(ValueScale({7}).share(7) == 0.5);
    CHECK(ValueScale({7}).ticks() == std::vector<double>{7});
}

}  // namespace sluice

// Values and marks on a logarithmic axis.
#include "sim/report/validate/log_axis.h"

#include "tests/catch.h"

using namespace sluice;

TEST_CASE("log axis: equal ratios are equally far apart", "[validate]") {
    const LogAxis axis({100, 10'000});
    CHECK(axis.share(axis.low()) == Approx(0));
    CHECK(axis.share(axis.high()) == Approx(1));
    CHECK(axis.share(1000) == Approx(0.5));
    CHECK(axis.share(2000) - axis.share(1000) == Approx(axis.share(400) - axis.share(200)));
}

TEST_CASE("log axis: a few round marks, whatever the range", "[validate]") {
    CHECK(LogAxis({100, 10'000}).ticks() ==
          std::vector<double>{100, 200, 500, 1000, 2000, 5000, 10'000});
    for (const double most : {3.0, 3.1, 4.0, 9.9, 40.0, 4e3, 4e6, 4e9}) {
        const LogAxis axis({3, most});
        const std::vector<double> ticks = axis.ticks();
        INFO(most);
        CHECK(ticks.size() >= 1);
        CHECK(ticks.size() <= 12);
        CHECK(ticks.front() >= axis.low());
        CHECK(ticks.back() <= axis.high());
    }
}

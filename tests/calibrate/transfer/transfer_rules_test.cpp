#include "calibrate/transfer/transfer_rules.h"

#include "tests/catch.h"

using namespace sluice;

namespace {

using Points = std::vector<std::vector<double>>;

/// On a machine whose host memory is twice as fast.
Points on_twice_the_memory(std::string_view path, const Points& points) {
    Scales scales;
    scales.host = 2;
    scales.new_cores = 64;
    const auto rule = transfer_rule(path, scales);
    REQUIRE(rule);
    return transfer_curve(path, {"threads", "value", "low", "high"}, points, *rule, scales);
}

}  // namespace

TEST_CASE("transfer rules: faster host memory raises Adam's rate, not the cost of its call",
          "[transfer]") {
    const Points points = {{4, 30, 20, 40}, {16, 100, 90, 120}};
    CHECK(on_twice_the_memory("host.optimizer_call_us_by_threads", points) == points);
    const Points rates = on_twice_the_memory("host.adam_gparams_per_s_by_threads", points);
    CHECK(rates.back()[0] == 32);
    CHECK(rates.back()[1] == Approx(200));
}

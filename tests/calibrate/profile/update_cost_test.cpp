// The fixed cost of a call of the optimizer, from calls of several sizes.
#include "calibrate/profile/make_profile.h"
#include "sim/base/input_error.h"
#include "tests/calibrate/profile/synthetic_machine.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

/// Calls of 16, 64 and 256 million parameters: `us` beside them, then 4 Gparam/s on 8 threads and 1
/// on 2.
Measurements with_sizes(double us) {
    CaseTable sizes = synthetic::table(
        "adam_by_size", {"state_bytes", "threads", "parameters", "us", "low", "high"}, {});
    for (const auto& [threads, gparams_per_s] : {std::pair{8.0, 4.0}, {2.0, 1.0}}) {
        for (const double parameters : {64e6, 16e6, 256e6}) {
            const double call = us * threads / 8 + parameters / gparams_per_s / 1e3;
            sizes.rows.push_back({12, threads, parameters, call, call, call});
        }
    }
    Measurements m = synthetic::gpu_machine();
    for (CaseRecord& record : m.cases)
        if (record.name == "adam") record.tables.push_back(sizes);
    return m;
}

}  // namespace

TEST_CASE("update cost: what is left at no parameters, by threads") {
    const auto cost = fit_update_cost(with_sizes(400));
    REQUIRE(cost);
    CHECK(cost->usual_parameters == 16e6);
    REQUIRE(cost->points.size() == 2);
    CHECK(cost->points[0][0] == 2);
    CHECK(cost->points[0][1] == Approx(100));
    CHECK(cost->points[1][0] == 8);
    CHECK(cost->points[1][1] == Approx(400));
    // A call of 16 million parameters at 4 Gparam/s and 400 us is one of 3.64 Gparam/s.
    CHECK(cost->long_rate(8, 16.0 / 4.4) == Approx(4));
    CHECK_THROWS_WITH(cost->long_rate(8, 41), ContainsSubstring("measure it again"));
}

TEST_CASE("update cost: none where it is not measured, in one size only, or below nothing") {
    CHECK_FALSE(fit_update_cost(synthetic::gpu_machine()));
    Measurements one = with_sizes(400);
    for (CaseRecord& record : one.cases)
        for (CaseTable& table : record.tables)
            if (table.name == "adam_by_size") table.rows.resize(1);
    CHECK_FALSE(fit_update_cost(one));
    const auto cost = fit_update_cost(with_sizes(-400));
    REQUIRE(cost);
    for (const auto& point : cost->points) {
        CHECK(point[1] > 0);
        CHECK(point[1] < 0.01);
    }
}

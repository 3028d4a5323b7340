// How does a profile describe a clock that falls under load? By hand.
#include <nlohmann/json.hpp>

#include "calibrate/profile/make_profile.h"
#include "calibrate/profile/sections.h"
#include "sim/base/input_error.h"
#include "sim/specs/machine/machine_spec.h"
#include "tests/calibrate/profile/made_profiles.h"
#include "tests/calibrate/profile/synthetic_machine.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

/// The table of one case of measurements.
CaseTable& table_of(Measurements& m, const std::string& name) {
    for (CaseRecord& record : m.cases)
        for (CaseTable& table : record.tables)
            if (table.name == name) return table;
    throw InternalError("no table " + name);
}

/// Every product takes as long as `us` says of the row.
template <typename Us>
CaseTable products(int rows, Us us) {
    CaseTable out = synthetic::clock_after_rest(rows);
    for (int i = 0; i < rows; ++i) out.rows[static_cast<std::size_t>(i)][1] = us(i);
    return out;
}

void check_share_alone(const MachineProfile& profile) {
    CHECK(value(profile, "kernels.rested_time_share") == Approx(1365.0 / 1600).epsilon(1e-4));
    for (const char* path :
         {"power.gemm_rested_w", "power.gemm_rested_joules_per_tflop", "power.headroom_j"})
        CHECK(profile.find(path) == nullptr);
}

}  // namespace

TEST_CASE("fit clock: the step from the highest clock to the limit, and when it comes") {
    const auto fit = fit_clock(synthetic::clock_after_rest());
    REQUIRE(fit);
    CHECK(fit->rested_us == Approx(1365));
    CHECK(fit->limit_us == Approx(1600));
    CHECK(fit->time_share == Approx(1365.0 / 1600));
    CHECK(fit->time_share_low == Approx(1365.0 / 1600));
    CHECK(fit->time_share_high == Approx(1365.0 / 1600));
    // 36 products of 1365 us; the first, which waited for the host, is not one of them.
    CHECK(fit->seconds_at_highest == Approx(36 * 1365e-6));
}

TEST_CASE("fit clock: products between both clocks count in part") {
    // Ten at 1000 us, ten half way, twenty at 1200 us.
    const auto fit = fit_clock(products(40, [](int i) {
        return i < 10 ? 1000.0 : i < 20 ? 1100.0 : 1200.0;
    }));
    REQUIRE(fit);
    CHECK(fit->seconds_at_highest == Approx(10 * 1000e-6 + 10 * 0.5 * 1100e-6));
}

TEST_CASE("fit clock: nothing where the clock does not fall by 1%") {
    CHECK_FALSE(fit_clock(products(100, [](int) { return 1365.0; })));
    CHECK_FALSE(fit_clock(products(100, [](int i) { return i < 40 ? 1365.0 : 1372.0; })));
    CHECK(fit_clock(products(100, [](int i) { return i < 40 ? 1365.0 : 1385.0; })));
    CHECK_FALSE(fit_clock(products(100, [](int i) { return i < 40 ? 1600.0 : 1365.0; })));
}

TEST_CASE("fit clock: nothing of too few products") {
    const auto falls = [](int i) { return i < 18 ? 1365.0 : 1600.0; };
    CHECK_FALSE(fit_clock(products(0, falls)));
    CHECK_FALSE(fit_clock(products(35, falls)));
    CHECK(fit_clock(products(36, falls)));
}

TEST_CASE("make profile: what a clock that falls under load says") {
    const MachineProfile p = profile_of(synthetic::gpu_machine_with_clock());
    CHECK(value(p, "kernels.rested_time_share") == Approx(0.853125).epsilon(1e-4));
    CHECK(value(p, "power.gemm_rested_w") == Approx(950));
    CHECK(value(p, "power.gemm_rested_joules_per_tflop") ==
          Approx(950 * 1365e-6 / 1.1).epsilon(1e-4));
    // 49.14 ms at 950 W, of which the limit gives 690.
    CHECK(value(p, "power.headroom_j") == Approx(0.04914 * 260).epsilon(1e-4));
    CHECK_THAT(p.find("power.headroom_j")->note,
               ContainsSubstring("49 ms at the highest clock") && ContainsSubstring("260 W"));
    // Tables are of the highest clock; sustained is what these products reach after: 1.1 TFLOP in
    // 1600 us.
    CHECK(value(p, "kernels.gemm_sustained_tflops") == Approx(687.5));
    CHECK_THAT(p.find("kernels.gemm_sustained_tflops")->note,
               ContainsSubstring("large products at the power limit"));

    const ClockSpec clock = resolve_machine(p).gpu.clock;
    CHECK(clock.headroom_j == Approx(12.776).epsilon(1e-3));
    CHECK(clock.limit_w == 690);
    CHECK(clock.time_share == Approx(0.853125).epsilon(1e-4));
    CHECK(clock.energy_share == Approx(690 / (950 * 0.853125)).epsilon(1e-4));
}

TEST_CASE("make profile: a clock whose power is not known says how far it falls, no more") {
    Measurements m = synthetic::gpu_machine_with_clock();
    table_of(m, "clock_bursts").rows.clear();  // no energy counter
    check_share_alone(profile_of(m));
    m = synthetic::gpu_machine_with_clock();
    table_of(m, "clock_bursts").rows[0][0] = 300;  // (300 - 0.6 x 80) / 0.4 = 630 W, below 690
    check_share_alone(profile_of(m));
    CHECK(resolve_machine(profile_of(m)).gpu.clock.headroom_j == 0);
}

TEST_CASE("make profile: a clock that does not fall leaves rates and clock as they are") {
    Measurements m = synthetic::gpu_machine_with_clock();
    for (auto& row : table_of(m, "clock_after_rest").rows) row[1] = 1365;
    const MachineProfile p = profile_of(m);
    CHECK(p.find("kernels.rested_time_share") == nullptr);
    CHECK(p.find("power.headroom_j") == nullptr);
    CHECK(value(p, "kernels.gemm_sustained_tflops") == Approx(600));
}

TEST_CASE("make profile: a base's clock is not that of the GPU whose kernels were measured") {
    const Measurements with_clock = synthetic::gpu_machine_with_clock();
    const BaseProfile base{"other", make_profile(with_clock, fit_machine(with_clock), {})};
    const MachineProfile p = profile_of(synthetic::gpu_machine(), base);
    for (const char* path : {"kernels.rested_time_share", "power.gemm_rested_w",
                             "power.gemm_rested_joules_per_tflop", "power.headroom_j"})
        CHECK(p.find(path) == nullptr);
    CHECK(value(p, "power.memory_w") == 600);
    CHECK(resolve_machine(p).gpu.clock.headroom_j == 0);
}

// How long do kernels take while the GPU may exceed its power limit, and afterwards? By hand.
#include "sim/simulate/operation_cost.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

/// 700 W is the limit, 100 W idle, 15 J may be drawn beyond the limit. Large products take 0.8 of
/// the time at the highest clock, where they draw 1000 W: of 10 ms, 12.5 ms at the limit; 10 J
/// then, 700 W x 12.5 ms = 8.75 J at the limit.
ClockSpec round_clock() {
    ClockSpec clock;
    clock.headroom_j = 15;
    clock.limit_w = 700;
    clock.idle_w = 100;
    clock.time_share = 0.8;
    clock.energy_share = 8.75 / 10;
    return clock;
}

/// Large products of so many seconds at the highest clock.
KernelCost products(Seconds seconds) { return {seconds, seconds / 0.8, 1000 * seconds}; }

/// Runs them to their end; seconds that they took.
Seconds run(PowerBudget& budget, Seconds& now, const KernelCost& cost) {
    const Seconds seconds = budget.begin(now, cost);
    now += seconds;
    budget.end(now);
    return seconds;
}

}  // namespace

TEST_CASE("power budget: the highest clock until what may be drawn beyond the limit is used up",
          "[simulate]") {
    PowerBudget budget(round_clock());
    Seconds now = 0;
    // 300 W beyond the limit for 10 ms are 3 J of 15.
    for (const double left : {12.0, 9.0, 6.0, 3.0, 0.0}) {
        CHECK(run(budget, now, products(0.01)) == Approx(0.01));
        CHECK(budget.left_j() == Approx(left).margin(1e-9));
    }
    for (int i = 0; i < 3; ++i) CHECK(run(budget, now, products(0.01)) == Approx(0.0125));
    CHECK(budget.left_j() == Approx(0).margin(1e-9));
}

TEST_CASE("power budget: kernels in which it is used up run at both clocks", "[simulate]") {
    PowerBudget budget(round_clock());
    Seconds now = 0;
    // 15 J of the 30 that 100 ms need: half of them at each clock.
    CHECK(run(budget, now, products(0.1)) == Approx(0.05 + 0.0625));
    CHECK(budget.left_j() == Approx(0).margin(1e-9));
}

TEST_CASE("power budget: kernels slow down no further than to what the limit is", "[simulate]") {
    PowerBudget budget(round_clock());
    Seconds now = 0;
    run(budget, now, products(0.05));
    // 8 J in 10 ms, 1 J beyond. At the limit's clock 12.5 ms and 7 J, 1.75 J less than the limit
    // gives then: 1 of 2.75 of the way there.
    CHECK(run(budget, now, {0.01, 0.0125, 8}) == Approx(0.01 + 0.0025 / 2.75));
    // 20 J: at the limit's clock they still draw more than 700 W, and no clock is lower.
    CHECK(run(budget, now, {0.01, 0.0125, 20}) == Approx(0.0125));
}

TEST_CASE("power budget: it fills again by what is left of the limit", "[simulate]") {
    PowerBudget budget(round_clock());
    Seconds now = 0;
    run(budget, now, products(0.05));
    now += 0.01;  // idle: 600 W x 10 ms = 6 J, of which 10 ms of products use 3
    CHECK(run(budget, now, products(0.01)) == Approx(0.01));
    CHECK(budget.left_j() == Approx(3));
    // 300 W below the limit for 20 ms: 6 J more.
    CHECK(run(budget, now, {0.02, 0.02, 8}) == Approx(0.02));
    CHECK(budget.left_j() == Approx(9));
    now += 1;  // no more than all of it
    run(budget, now, products(0.01));
    CHECK(budget.left_j() == Approx(12));
}

TEST_CASE("power budget: the time in which something else slows kernels down is not idle",
          "[simulate]") {
    PowerBudget budget(round_clock());
    CHECK(budget.begin(0, products(0.05)) == Approx(0.05));
    budget.end(0.06);
    CHECK(budget.begin(0.06, products(0.01)) == Approx(0.0125));
}

TEST_CASE("power budget: kernels within the limit never slow down", "[simulate]") {
    PowerBudget budget(round_clock());
    Seconds now = 0;
    run(budget, now, products(0.05));
    for (int i = 0; i < 100; ++i) CHECK(run(budget, now, {0.01, 0.0125, 6.9}) == Approx(0.01));
}

TEST_CASE("power budget: kernels that a lower clock does not slow take their time", "[simulate]") {
    PowerBudget budget(round_clock());
    Seconds now = 0;
    for (int i = 0; i < 10; ++i) CHECK(run(budget, now, {0.01, 0.01, 9}) == Approx(0.01));
    CHECK(budget.left_j() == Approx(0).margin(1e-9));
}

TEST_CASE("power budget: without the clock's numbers nothing slows down", "[simulate]") {
    PowerBudget budget(ClockSpec{});
    Seconds now = 0;
    for (int i = 0; i < 10; ++i) CHECK(run(budget, now, products(1)) == 1);
}

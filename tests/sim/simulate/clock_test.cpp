// Steps on a GPU whose clock falls under load. By hand.
#include "tests/catch.h"
#include "tests/sim/simulate/hand_made.h"

using namespace sluice;
using namespace sluice::test;

namespace {

/// A product of 50 TFLOP takes 50 ms at the limit, 40 ms at the highest clock, where it draws
/// 1000 W: 12 J more than the limit of 700 W. At the limit it needs 35 J of 40.
constexpr double kBeyondJ = 12;

MachineSpec machine_with_headroom(double joules) {
    MachineSpec machine = round_machine();
    machine.gpu.memory_bandwidth = 1e18;  // no time of a product is that of its bytes
    ClockSpec& clock = machine.gpu.clock;
    clock.headroom_j = joules;
    clock.limit_w = 700;
    clock.idle_w = 100;
    clock.joules_per_flop = 900 * 0.04 / 50e12;
    clock.time_share = 0.8;
    clock.energy_share = 35.0 / 40;
    return machine;
}

/// Four products after `idle` seconds without work: a copy at 50 GB/s.
SimulatedStep four_products(const MachineSpec& machine, Seconds idle = 0) {
    HandMadePlan made;
    std::vector<OperationId> products;
    for (int i = 0; i < 4; ++i) products.push_back(made.product(2500, 2500, 4'000'000));
    if (idle > 0) {
        const OperationId copy = made.copy_in(idle * 50e9);
        made.wait_for_step_before(copy, products.back());
        made.plan.program.operations[static_cast<std::size_t>(products.front())].waits_for = {
            {copy, false}};
    }
    return simulate_step(made.plan, machine, {});
}

}  // namespace

TEST_CASE("clock: steps after the first burst take longer, by what the limit costs", "[simulate]") {
    // As much as the first step needs: it takes 4 x 40 ms, all others 4 x 50.
    const SimulatedStep step = four_products(machine_with_headroom(4 * kBeyondJ));
    CHECK(step.first_step == Approx(0.16));
    CHECK(step.step == Approx(0.20));
    CHECK(step.steady);
    // Half as much: two products at each clock.
    CHECK(four_products(machine_with_headroom(2 * kBeyondJ)).first_step == Approx(0.18));
}

TEST_CASE("clock: short steps are not steady before the GPU is at its limit", "[simulate]") {
    // The first 2, 10 or 1000 steps are alike, and then the limit is reached.
    for (const double steps : {2.0, 2.5, 10.3, 1000.0}) {
        INFO(steps);
        const SimulatedStep step = four_products(machine_with_headroom(steps * 4 * kBeyondJ));
        CHECK(step.first_step == Approx(0.16));
        CHECK(step.step == Approx(0.20));
        CHECK(step.steady);
    }
}

TEST_CASE("clock: a step that leaves enough of the limit stays at the highest clock",
          "[simulate]") {
    // 80 ms without work leave 600 W x 80 ms = 48 J, what four products need.
    for (const double steps : {1.0, 3.5}) {
        const SimulatedStep step = four_products(machine_with_headroom(steps * 4 * kBeyondJ), 0.08);
        CHECK(step.step == Approx(0.08 + 0.16));
        CHECK(step.steady);
    }
}

TEST_CASE("clock: what a step leaves of the limit is used by the next", "[simulate]") {
    // 40 ms without work leave 24 J: two products at the highest clock, two at the limit.
    for (const double steps : {1.0, 30.0, 1000.0}) {
        INFO(steps);
        const SimulatedStep step = four_products(machine_with_headroom(steps * 4 * kBeyondJ), 0.04);
        CHECK(step.step == Approx(0.04 + 2 * 0.04 + 2 * 0.05));
        CHECK(step.steady);
    }
}

TEST_CASE("clock: without its numbers products take the time at the limit", "[simulate]") {
    MachineSpec machine = machine_with_headroom(1);
    machine.gpu.clock = {};
    const SimulatedStep step = four_products(machine);
    CHECK(step.first_step == Approx(0.20));
    CHECK(step.step == Approx(0.20));
}

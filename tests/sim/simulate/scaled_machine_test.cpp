#include "sim/specs/machine/scaled_machine.h"

#include "tests/catch.h"
#include "tests/sim/simulate/hand_made.h"

using namespace sluice;

namespace {

/// Seconds of one operation of each kind, alone, where the machine's group is scaled.
struct Times {
    Seconds compute = 0, in = 0, out = 0, adam = 0;
};

Times times_with(RateGroup group, double factor, MachineSpec machine = test::round_machine()) {
    scale_group(machine, group, factor);
    test::HandMadePlan plan;
    const OperationId in = plan.copy_in(1e9);
    const OperationId compute = plan.compute(0.1, {{in}});
    const OperationId out = plan.copy_out(1e9, {{compute}});
    const OperationId adam = plan.adam(1e9, {{out}});
    plan.wait_for_step_before(in, adam);
    const SimulatedStep step = simulate_step(plan.plan, machine, {});
    return {test::duration(step, compute), test::duration(step, in), test::duration(step, out),
            test::duration(step, adam)};
}

void check(const Times& times, const Times& expected) {
    CHECK(times.compute == Approx(expected.compute));
    CHECK(times.in == Approx(expected.in));
    CHECK(times.out == Approx(expected.out));
    CHECK(times.adam == Approx(expected.adam));
}

}  // namespace

TEST_CASE("scaled machine: a group's operations take longer by its factor, others do not",
          "[simulate]") {
    const Times plain{0.1, 0.02, 0.025, 0.01};
    check(times_with(RateGroup::kernels, 1), plain);
    check(times_with(RateGroup::kernels, 0.8), {0.125, 0.02, 0.025, 0.01});
    check(times_with(RateGroup::link, 0.8), {0.1, 0.025, 0.03125, 0.01});
    check(times_with(RateGroup::optimizer, 0.8), {0.1, 0.02, 0.025, 0.0125});
    check(times_with(RateGroup::host_memory, 0.8), plain);  // no two of them share it
    check(times_with(RateGroup::host_work, 0.8), plain);
}

TEST_CASE("scaled machine: a slower optimizer's calls also have a larger fixed cost",
          "[simulate]") {
    const auto adam_time = [](double factor) {
        MachineSpec machine = test::round_machine();
        machine.host.adam_call = Interpolated({{1, 0.01}});
        return times_with(RateGroup::optimizer, factor, machine).adam;
    };
    CHECK(adam_time(1) == Approx(0.01 + 0.01));
    CHECK(adam_time(0.8) == Approx(0.02 / 0.8));
}

TEST_CASE("scaled machine: less host memory slows copies both ways and what shares it",
          "[simulate]") {
    MachineSpec machine = test::round_machine();
    scale_group(machine, RateGroup::host_memory, 0.5);
    test::HandMadePlan plan;
    const OperationId in = plan.copy_in(3e9), out = plan.copy_out(3e9);
    plan.wait_for_step_before(in, out);
    plan.compute(1e-3, {{in}, {out}});
    const SimulatedStep step = simulate_step(plan.plan, machine, {});
    CHECK(test::duration(step, in) == Approx(0.2));  // 15 GB/s each, half of 60 / 2
    CHECK(test::duration(step, out) == Approx(0.2));
}

TEST_CASE("scaled machine: measured tables take longer by the factor", "[simulate]") {
    MachineSpec machine = test::round_machine();
    KernelTable& table = machine.gpu.tables[static_cast<std::size_t>(KernelTableId::gemm_forward)];
    table.trend.assign(kernel_feature_names(KernelTableId::gemm_forward).size(), 0);
    table.trend.front() = 1000;
    test::HandMadePlan plan;
    const OperationId product = plan.product(512, 512, 512);
    CHECK(test::duration(simulate_step(plan.plan, machine, {}), product) == Approx(1e-3));
    scale_group(machine, RateGroup::kernels, 0.8);
    CHECK(test::duration(simulate_step(plan.plan, machine, {}), product) == Approx(1.25e-3));
}

TEST_CASE("scaled machine: less host memory takes from every share, and never all of it",
          "[simulate]") {
    MachineSpec machine = test::round_machine();
    const ActiveLanes active{false, true, true, 100e9};
    machine.host.contention = Contention({{active, {1, 0.5, 0.99, 0.05}}});
    scale_group(machine, RateGroup::host_memory, 0.5);
    const LaneShares halved = machine.host.contention.shares(active);
    CHECK(halved.compute == Approx(1));
    CHECK(halved.in == Approx(1.0 / 3));
    CHECK(halved.out == Approx(0.98).epsilon(1e-3));     // loses twice as much
    CHECK(halved.work == Approx(0.0256).epsilon(1e-2));  // gets half
    scale_group(machine, RateGroup::host_memory, 2);
    CHECK(machine.host.contention.shares(active).in == Approx(0.5));
}

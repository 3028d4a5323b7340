// Lanes of several devices in one plan: their rates, waits, energy and memory. Expectations are
// computed by hand.
#include <vector>

#include "sim/plan/plan_builder.h"
#include "sim/plan/step.h"
#include "sim/plan/waits.h"
#include "sim/simulate/simulate_step.h"
#include "sim/simulate/step_bounds.h"
#include "tests/catch.h"
#include "tests/sim/simulate/hand_made.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr Lane on(Work work, int device) { return {work, device}; }

/// Each device copies 5 GB in and then computes for 10 ms; the other devices as the first one.
struct CopiesOfEach {
    explicit CopiesOfEach(int devices) {
        for (int device = 0; device < devices; ++device) {
            copies.push_back(made.copy_in(5e9));
            made.at(copies.back()).lane.device = static_cast<std::int16_t>(device);
            computes.push_back(made.compute(0.01, {{copies.back()}}));
            made.at(computes.back()).lane.device = static_cast<std::int16_t>(device);
        }
    }
    HandMadePlan made;
    std::vector<OperationId> copies, computes;
};

}  // namespace

TEST_CASE("several devices: links are their own, host memory is shared", "[simulate]") {
    MachineSpec machine = round_machine();
    machine.host.copy_weight = 1;
    const CopiesOfEach four(4);
    // Host memory has 200 GB/s, four links have 50 each.
    const SimulatedStep free = simulate_step(four.made.plan, machine, {});
    for (const OperationId copy : four.copies) CHECK(duration(free, copy) == Approx(0.1));
    machine.host.dram_bandwidth = 80e9;
    const SimulatedStep shared = simulate_step(four.made.plan, machine, {});
    for (const OperationId copy : four.copies) CHECK(duration(shared, copy) == Approx(0.25));
}

TEST_CASE("several devices: both directions share the link of one device alone", "[simulate]") {
    HandMadePlan made;
    const OperationId in = made.copy_in(3e9), out = made.copy_out(3e9);
    const OperationId of_first = made.compute(0.001, {{in}, {out}});
    const SimulatedStep one = simulate_step(made.plan, round_machine(), {});
    CHECK(duration(one, in) == Approx(0.1));  // half of 60 GB/s
    made.at(out).lane.device = 1;
    made.at(of_first).waits_for = {{in}};
    const SimulatedStep two = simulate_step(made.plan, round_machine(), {});
    CHECK(duration(two, in) == Approx(0.06));
    CHECK(duration(two, out) == Approx(0.075));
}

TEST_CASE("several devices: a lane waits for one of another device", "[simulate]") {
    HandMadePlan made;
    const OperationId other = made.compute(0.03);
    made.at(other).lane.device = 1;
    const OperationId first = made.compute(0.01, {{other}});
    made.wait_for_step_before(other, first);
    const SimulatedStep step = simulate_step(made.plan, round_machine(), {});
    CHECK(step.step == Approx(0.04));
    const LaneTimes lanes = lane_times(made.plan.program, step.operations, step.step);
    CHECK(lanes[on(Work::compute, 1)].busy == Approx(0.03));
    CHECK(lanes[on(Work::compute, 1)].exposed == Approx(0.03));
    CHECK(lanes[Work::compute].idle == Approx(0.03));
    const ByLane<double> shares = critical_shares(made.plan.program, step.operations, step.step);
    CHECK(shares[on(Work::compute, 1)] == Approx(0.75));
    CHECK(shares[Work::compute] == Approx(0.25));
}

TEST_CASE("several devices: each has its own energy beyond the power limit", "[simulate]") {
    MachineSpec machine = round_machine();
    ClockSpec& clock = machine.gpu.clock;
    clock.limit_w = 500;
    clock.idle_w = 100;
    clock.headroom_j = 1;
    clock.energy_share = 0.5;
    const SimulatedStep one = simulate_step(CopiesOfEach(1).made.plan, machine, {});
    const SimulatedStep two = simulate_step(CopiesOfEach(2).made.plan, machine, {});
    CHECK(two.step == Approx(one.step));
    CHECK(two.steady == one.steady);
}

TEST_CASE("several devices: waits are derived across devices", "[plan]") {
    PlanBuilder build(KernelStyle::fused);
    const BufferId shard = build.buffer("shard", MemoryKind::weights, {Tier::device, 1}, 10);
    const BufferId whole = build.device_buffer("whole", MemoryKind::weights, 20);
    const OperationId arrives =
        build.add(OperationKind::copy_weights_in, on(Work::host_to_device, 1), 0,
                  copy_operation(10, {writes(shard)}));
    const OperationId gathers = build.add(OperationKind::all_gather, on(Work::interconnect, 0), 0,
                                          copy_operation(10, {reads(shard), writes(whole)}));
    const OperationId computes =
        build.add(OperationKind::forward, 0, gpu_operation({}, {reads(whole)}));
    StepPlan plan = build.finish();
    derive_waits(plan);
    const auto waits = [&](OperationId id) {
        return plan.program.operations[static_cast<std::size_t>(id)].waits_for;
    };
    REQUIRE(waits(arrives).size() == 1);  // for the last reader of its place, a step before
    CHECK(waits(arrives)[0].operation == gathers);
    CHECK(waits(arrives)[0].previous_step);
    REQUIRE(waits(computes).size() == 1);
    CHECK(waits(computes)[0].operation == gathers);
}

TEST_CASE("several devices: each has an arena of its own", "[plan]") {
    PlanBuilder build(KernelStyle::fused);
    build.in_one_arena();
    for (int device = 0; device < 2; ++device) {
        const BufferId id =
            build.buffer("workspace", MemoryKind::workspace, {Tier::device, device}, 10);
        build.add(OperationKind::forward, on(Work::compute, device), 0,
                  gpu_operation({}, {writes(id)}));
    }
    StepPlan plan = build.finish();
    derive_waits(plan);
    for (const Operation& operation : plan.program.operations) CHECK(operation.waits_for.empty());
}

TEST_CASE("several devices: copies of another device slow the optimizer as measured",
          "[simulate]") {
    MachineSpec machine = round_machine();
    ContentionPoint both;
    both.active = {false, true, false, 100e9};
    both.shares.work = 0.5;
    machine.host.contention = Contention({both});
    HandMadePlan made;
    const OperationId copy = made.copy_in(50e9), adam = made.adam(50e9);
    made.at(made.compute(0.001, {{copy}, {adam}})).lane = Work::compute;
    const auto update = [&] { return duration(simulate_step(made.plan, machine, {}), adam); };
    const Seconds beside_first = update();
    CHECK(beside_first > 0.9);
    made.at(copy).lane.device = 1;
    CHECK(update() == Approx(beside_first));
    CHECK(quick_step(made.plan, machine, {}).step ==
          Approx(simulate_step(made.plan, machine, {}).step));
}

TEST_CASE("several devices: bounds stay below the step", "[simulate]") {
    const CopiesOfEach two(2);
    const MachineSpec machine = round_machine();
    const std::vector<FlowDemand> demands = operation_demands(two.made.plan.program, machine, {});
    CHECK(step_bounds(two.made.plan.program, demands, machine, {}).at_least() <=
          simulate_step(two.made.plan, machine, {}).step);
}

TEST_CASE("several devices: a plan fits if it fits each memory", "[plan]") {
    PlanBuilder build(KernelStyle::fused);
    build.on_device("first", MemoryKind::weights, 60e9);
    build.standing("second", MemoryKind::weights, {Tier::device, 1}, 130e9);
    build.on_host("host", MemoryKind::weights, 10e9);
    build.add(OperationKind::forward, on(Work::compute, 1), 0, gpu_operation({}));
    const StepPlan plan = build.finish();
    MachineSpec machine = round_machine();
    const Fit fit = check_fit(plan, machine, {});
    CHECK(fit.device().shortfall() == 0);
    CHECK(fit.of({Tier::device, 1}).shortfall() == 30'000'000'000);
    CHECK_FALSE(fit.fits());
    const std::vector<Shortage> short_ones = find_shortages(planned_step(plan, machine, {}));
    REQUIRE(short_ones.size() == 1);
    CHECK(short_ones[0].memory == "device 1");

    machine.unified_memory = true;  // all of it is the host's
    CHECK(check_fit(plan, machine, {}).host().peak.bytes == 200'000'000'000);
}

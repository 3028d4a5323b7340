// Rates of flows that share resources. Each case states its expectation by hand; without contention
// the simulation agrees to 1e-9.
#include "sim/specs/machine/machine_profile.h"
#include "tests/catch.h"
#include "tests/sim/simulate/hand_made.h"

using namespace sluice;
using namespace sluice::test;

namespace {

SimulatedStep simulate_on(const HandMadePlan& made, const MachineSpec& machine) {
    return simulate_step(made.plan, machine, TrainingSpec{});
}

/// Rates in GB/s of one copy in and one out that run at the same time for as long as both last.
std::pair<double, double> both_ways(const MachineSpec& machine) {
    HandMadePlan made;
    const OperationId in = made.copy_in(50e9), out = made.copy_out(50e9);
    made.compute(10);
    const SimulatedStep step = simulate_on(made, machine);
    return {50 / duration(step, in), 50 / duration(step, out)};
}

double alone_in(const MachineSpec& machine) {
    HandMadePlan made;
    const OperationId in = made.copy_in(50e9);
    made.compute(10);
    return 50 / duration(simulate_on(made, machine), in);
}

double alone_out(const MachineSpec& machine) {
    HandMadePlan made;
    const OperationId out = made.copy_out(50e9);
    made.compute(10);
    return 50 / duration(simulate_on(made, machine), out);
}

}  // namespace

TEST_CASE("sharing: a copy alone takes its bytes over the link's rate", "[simulate]") {
    // Expectation: 45 GB over 50 GB/s = 0.9 s in, 45 GB over 40 GB/s = 1.125 s out, one after the
    // other.
    HandMadePlan made;
    const OperationId in = made.copy_in(45e9);
    const OperationId out = made.copy_out(45e9, {{in, false}});
    made.wait_for_step_before(in, made.compute(3, {{out, false}}));
    const SimulatedStep step = simulate_on(made, round_machine());
    CHECK(duration(step, in) == Approx(0.9).epsilon(1e-9));
    CHECK(duration(step, out) == Approx(1.125).epsilon(1e-9));
}

TEST_CASE("sharing: a small copy reaches the share of the rate that the curve by size gives",
          "[simulate]") {
    // Expectation: the curve gives 40% of 50 GB/s at 1 MB: 1 MB over 20 GB/s = 50 us.
    MachineSpec machine = round_machine();
    machine.link.share_to_device_by_bytes = Interpolated({{1e6, 0.4}, {100e6, 1.0}});
    HandMadePlan made;
    const OperationId in = made.copy_in(1e6);
    made.compute(0.001);
    // All tests share one clock, which has run for half an hour by now.
    CHECK(duration(simulate_on(made, machine), in) == Approx(50e-6).epsilon(1e-7));
}

TEST_CASE("sharing: copies both ways share what the link gives both together", "[simulate]") {
    // Expectation: 60 GB/s for both: 30 each way, although each alone could have 50 and 40.
    const auto [in, out] = both_ways(round_machine());
    CHECK(in == Approx(30).epsilon(1e-6));
    CHECK(out == Approx(30).epsilon(1e-6));
}

TEST_CASE("sharing: what one direction leaves the other can use", "[simulate]") {
    // Expectation: 30 GB/s each until the copy out (3 GB) ends at 0.1 s; then the copy in has its
    // 50 GB/s. 5 GB in: 3 GB in 0.1 s, 2 GB in 0.04 s = 0.14 s.
    HandMadePlan made;
    const OperationId in = made.copy_in(5e9), out = made.copy_out(3e9);
    const OperationId end = made.compute(0.1, {{in, false}, {out, false}});
    made.wait_for_step_before(in, end);
    made.wait_for_step_before(out, end);
    const SimulatedStep step = simulate_on(made, round_machine());
    CHECK(duration(step, out) == Approx(0.1).epsilon(1e-6));
    CHECK(duration(step, in) == Approx(0.14).epsilon(1e-6));
}

TEST_CASE("sharing: copies and Adam share host memory, a copied byte counting as copy_weight bytes",
          "[simulate]") {
    // Expectation: 100 GB/s of host memory, weight 2. Three flows get a third each: Adam 33.3 GB/s,
    // copies half of that in bytes, 16.7 GB/s each.
    MachineSpec machine = round_machine();
    machine.host.dram_bandwidth = 100e9;
    machine.host.copy_weight = 2;
    HandMadePlan made;
    const OperationId in = made.copy_in(5e9), out = made.copy_out(5e9), adam = made.adam(10e9);
    made.compute(1);
    const SimulatedStep step = simulate_on(made, machine);
    CHECK(duration(step, in) == Approx(0.3).epsilon(1e-6));
    CHECK(duration(step, out) == Approx(0.3).epsilon(1e-6));
    CHECK(duration(step, adam) == Approx(0.3).epsilon(1e-6));
}

TEST_CASE(
    "sharing: a kernel that fills device memory yields what copies take, another is not slowed",
    "[simulate]") {
    // Expectation: the kernel would use all 4000 GB/s; copies run at 50 GB/s all the time: 4000 GB
    // over 3950 GB/s.
    HandMadePlan made;
    const OperationId in = made.copy_in(50e9), full = made.compute(1);
    CHECK(duration(simulate_on(made, round_machine()), in) == Approx(1.0).epsilon(1e-6));
    CHECK(duration(simulate_on(made, round_machine()), full) ==
          Approx(4000.0 / 3950).epsilon(1e-6));
    // A kernel bound by arithmetic (100 multiprocessors, whole waves): 2 x 2560 x 2560 x 1e6 FLOPs
    // at 1e15 a second.
    HandMadePlan other;
    other.copy_in(50e9);
    const OperationId product = other.product(2560, 2560, 1'000'000);
    CHECK(duration(simulate_on(other, round_machine()), product) ==
          Approx(2.0 * 2560 * 2560 * 1e6 / 1e15).epsilon(1e-6));
}

TEST_CASE("sharing: on unified memory a kernel and Adam draw on one pool", "[simulate]") {
    // Expectation: 200 GB/s for all. The kernel wants 4000 GB/s and Adam 100: 100 each. 10 GB each
    // = 0.1 s.
    MachineSpec machine = round_machine();
    machine.unified_memory = true;
    HandMadePlan made;
    const OperationId kernel = made.compute(10e9 / 4000e9), adam = made.adam(10e9);
    const SimulatedStep step = simulate_on(made, machine);
    CHECK(duration(step, kernel) == Approx(0.1).epsilon(1e-6));
    CHECK(duration(step, adam) == Approx(0.1).epsilon(1e-6));
}

TEST_CASE("sharing: the measured H200 has 55.5 and 55.4 GB/s alone, 51.8 and 49.4 at once",
          "[simulate]") {
    // At once beside a kernel: shares of 0.934 in and 0.892 out in the profile's contention.
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-pcie5-16vcpu-128gib"));
    CHECK(alone_in(machine) == Approx(machine.link.host_to_device / 1e9).epsilon(1e-9));
    CHECK(alone_in(machine) == Approx(55.5).epsilon(0.01));
    CHECK(alone_out(machine) == Approx(55.4).epsilon(0.01));
    const auto [in, out] = both_ways(machine);
    CHECK(in == Approx(51.8).epsilon(0.01));
    CHECK(out == Approx(49.4).epsilon(0.01));
}

TEST_CASE("sharing: the GH200 has 380 GB/s in, 297.5 out and 184 each way at once", "[simulate]") {
    const MachineSpec machine = resolve_machine(read_machine_profile("gh200-480gb"));
    CHECK(alone_in(machine) == Approx(380).epsilon(1e-6));
    CHECK(alone_out(machine) == Approx(297.5).epsilon(1e-6));
    const auto [in, out] = both_ways(machine);
    CHECK(in == Approx(184).epsilon(1e-6));
    CHECK(out == Approx(184).epsilon(1e-6));
}

// Rates of flows on a machine with measured contention. By hand, to 1e-9.
#include <algorithm>
#include <numeric>

#include "sim/simulate/operation_cost.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/simulate/hand_made.h"

using namespace sluice;
using namespace sluice::test;

namespace {

/// round_machine() (50 GB/s in, 40 out, Adam 100) with shares: in and Adam 0.5 and 0.8; out and
/// Adam 1 and 0.6; both ways 0.8 and 0.75; all three 0.4, 0.75 and 0.5.
MachineSpec machine_with(std::vector<ContentionPoint> more = {}) {
    MachineSpec machine = round_machine();
    std::vector<ContentionPoint> points = {{{false, true, false, 100e9}, {1, 0.5, 1, 0.8}},
                                           {{false, false, true, 100e9}, {1, 1, 1, 0.6}},
                                           {{false, true, true, 0}, {1, 0.8, 0.75, 1}},
                                           {{false, true, true, 100e9}, {1, 0.4, 0.75, 0.5}}};
    points.insert(points.end(), more.begin(), more.end());
    machine.host.contention = Contention(std::move(points));
    return machine;
}

/// Operations that start together, each step when the one before has ended.
struct Together {
    HandMadePlan made;
    std::vector<OperationId> ids;

    SimulatedStep run(const MachineSpec& machine) {
        Dependencies all;
        for (const OperationId id : ids) all.push_back({id, false});
        const OperationId end = made.compute(0.001, all);
        for (const OperationId id : ids) made.wait_for_step_before(id, end);
        return simulate_step(made.plan, machine, TrainingSpec{});
    }
};

}  // namespace

TEST_CASE("contention: a lane alone has its rate", "[simulate]") {
    Together t;
    t.ids = {t.made.copy_in(50e9)};
    const SimulatedStep step = t.run(machine_with());
    CHECK(duration(step, t.ids[0]) == Approx(1).epsilon(1e-9));
    CHECK(step.step == Approx(1.001).epsilon(1e-9));
}

TEST_CASE("contention: when the copy stops the update has all of its rate again", "[simulate]") {
    // Expectation: the copy (1 s alone) at 0.5 ends at 2 s; the update (2 s alone) has done 2 x 0.8
    // = 1.6 s of its work by then, and the other 0.4 s alone: 2.4 s.
    Together t;
    t.ids = {t.made.copy_in(50e9), t.made.adam(200e9)};
    const SimulatedStep step = t.run(machine_with());
    CHECK(duration(step, t.ids[0]) == Approx(2).epsilon(1e-9));
    CHECK(duration(step, t.ids[1]) == Approx(2.4).epsilon(1e-9));
    CHECK(step.steady);
}

TEST_CASE("contention: when the update stops the copy has all of its rate again", "[simulate]") {
    // Expectation: the update (0.8 s alone) at 0.8 ends at 1 s; the copy has done 0.5 s by then and
    // does the other 0.5 s alone: 1.5 s.
    Together t;
    t.ids = {t.made.copy_in(50e9), t.made.adam(80e9)};
    const SimulatedStep step = t.run(machine_with());
    CHECK(duration(step, t.ids[1]) == Approx(1).epsilon(1e-9));
    CHECK(duration(step, t.ids[0]) == Approx(1.5).epsilon(1e-9));
}

TEST_CASE("contention: a copy that starts during an update slows it from then on", "[simulate]") {
    // Expectation: the copy in (0.5 s, then out waits for it) and Adam (3 s alone). In at 0.5: ends
    // at 1 s, Adam has done 0.8. Out (40 GB, 1 s alone) keeps its rate: ends at 2 s, Adam has done
    // 0.8 + 0.6 = 1.4. The other 1.6 s alone: 3.6 s.
    Together t;
    const OperationId in = t.made.copy_in(25e9), adam = t.made.adam(300e9);
    const OperationId out = t.made.copy_out(40e9, {{in, false}});
    t.ids = {in, adam};
    const SimulatedStep step = t.run(machine_with());
    CHECK(duration(step, in) == Approx(1).epsilon(1e-9));
    CHECK(duration(step, out) == Approx(1).epsilon(1e-9));
    CHECK(duration(step, adam) == Approx(3.6).epsilon(1e-9));
}

TEST_CASE("contention: an update that starts during a copy has all of its rate once that ends",
          "[simulate]") {
    // Expectation: both ways at (0.8, 0.75): out (30 GB over 30 GB/s) ends at 1 s; in (2 s alone)
    // has 1.2 s left. Adam (2 s alone) starts then, at (0.5, 0.8): in ends 2.4 s later, Adam has
    // done 1.92 s and does the other 0.08 s alone: 2.48 s.
    Together t;
    const OperationId in = t.made.copy_in(100e9), out = t.made.copy_out(30e9);
    const OperationId adam = t.made.adam(200e9, {{out, false}});
    t.ids = {in, out, adam};
    const SimulatedStep step = t.run(machine_with());
    CHECK(duration(step, out) == Approx(1).epsilon(1e-9));
    CHECK(duration(step, in) == Approx(3.4).epsilon(1e-9));
    CHECK(duration(step, adam) == Approx(2.48).epsilon(1e-9));
}

TEST_CASE("contention: neither host memory nor the link limits more than the shares",
          "[simulate]") {
    // Expectation: both ways 0.8 x 50 and 0.75 x 40 = 70 GB/s, though 60 both ways together and 1
    // GB/s of host memory are stated: 50 GB in over 40 GB/s, 37.5 GB out over 30.
    MachineSpec machine = machine_with();
    machine.host.dram_bandwidth = 1e9;
    Together t;
    t.ids = {t.made.copy_in(50e9), t.made.copy_out(37.5e9)};
    const SimulatedStep step = t.run(machine);
    CHECK(duration(step, t.ids[0]) == Approx(1.25).epsilon(1e-9));
    CHECK(duration(step, t.ids[1]) == Approx(1.25).epsilon(1e-9));
    // The next machine has no shares: what one limits is forgotten.
    Together plain;
    plain.ids = {plain.made.copy_in(50e9), plain.made.copy_out(50e9)};
    const SimulatedStep shared = plain.run(round_machine());
    CHECK(duration(shared, plain.ids[0]) == Approx(50.0 / 30).epsilon(1e-6));
}

TEST_CASE("contention: half of the work takes half of its effect", "[simulate]") {
    // Expectation: half-way from (0.8, 0.75, 1) to (0.4, 0.75, 0.5) at 50 GB/s of work: 0.6 of
    // 50, 0.75 of 40 and 0.75 of 50 GB/s, for 1 s.
    MachineSpec machine = machine_with();
    machine.host.adam_bytes_per_s = Interpolated({{1, 50e9}});
    Together t;
    t.ids = {t.made.copy_in(30e9), t.made.copy_out(30e9), t.made.adam(37.5e9)};
    const SimulatedStep step = t.run(machine);
    for (const OperationId id : t.ids) CHECK(duration(step, id) == Approx(1).epsilon(1e-9));
}

TEST_CASE("contention: compute yields where it was measured to, else keeps its rate",
          "[simulate]") {
    // A product of T = 13.1072 ms (arithmetic) beside a copy of as long. Expectation at shares
    // (0.5, 0.8): the copy ends at 1.25 T, the product has done 0.625 T and does the rest alone:
    // 1.625 T. Not measured: both T.
    constexpr double kAlone = 2.0 * 2560 * 2560 * 1e6 / 1e15;
    for (const bool measured : {true, false}) {
        std::vector<ContentionPoint> more;
        if (measured) more.push_back({{true, true, false, 0}, {0.5, 0.8, 1, 1}});
        Together t;
        t.ids = {t.made.copy_in(50e9 * kAlone), t.made.product(2560, 2560, 1'000'000)};
        const SimulatedStep step = t.run(machine_with(more));
        CHECK(duration(step, t.ids[0]) == Approx(kAlone * (measured ? 1.25 : 1)).epsilon(1e-9));
        CHECK(duration(step, t.ids[1]) == Approx(kAlone * (measured ? 1.625 : 1)).epsilon(1e-9));
    }
}

TEST_CASE("contention: in whatever order operations are declared, they take the same time",
          "[simulate]") {
    // Expectation: all three at (0.4, 0.75, 0.5) of 50, 40 and 100 GB/s. Out (30 GB) ends at 1 s;
    // in (50 GB) has 30 left, at 0.5 now: 1.2 s; Adam (100 GB) has 50 left, at 0.8 now: 0.625 s, so
    // ends at 1.625 s. In has 14.375 GB left then, alone: 0.2875 s.
    std::vector<int> order = {0, 1, 2};
    do {
        Together t;
        OperationId of[3] = {};
        for (const int which : order) {
            of[which] = which == 0   ? t.made.copy_in(50e9)
                        : which == 1 ? t.made.copy_out(30e9)
                                     : t.made.adam(100e9);
            t.ids.push_back(of[which]);
        }
        const SimulatedStep step = t.run(machine_with());
        CHECK(duration(step, of[1]) == Approx(1).epsilon(1e-9));
        CHECK(duration(step, of[2]) == Approx(1.625).epsilon(1e-9));
        CHECK(duration(step, of[0]) == Approx(1.9125).epsilon(1e-9));
        CHECK(step.steady);
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("contention: a plan of 80 layers stays steady, and the same each time", "[simulate]") {
    MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5"));
    machine.host.contention = machine_with().host.contention;
    const ModelSpec model = read_model("llama-3.1-70b");
    REQUIRE(model.layer_count() == 80);
    for (const std::int64_t batch : {1, 16, 64}) {
        CAPTURE(batch);
        TrainingSpec training;
        training.batch = batch;
        const StepPlan plan = plan_step(model, machine, training);
        const SimulatedStep step = simulate_step(plan, machine, training);
        CHECK(step.steady);
        // Again, later on the simulator's clock: the same but for its rounding.
        CHECK(simulate_step(plan, machine, training).step == Approx(step.step).epsilon(1e-11));
        // Shares only take: no lane is faster than all its operations alone.
        const std::vector<FlowDemand> demands = operation_demands(plan.program, machine, training);
        ByLane<double> alone;
        for (std::size_t i = 0; i < demands.size(); ++i)
            alone[plan.program.operations[i].lane] += demands[i].alone();
        CHECK(step.step >= *std::ranges::max_element(alone) * (1 - 1e-9));
        CHECK(step.step <= std::accumulate(alone.begin(), alone.end(), 0.0) / 0.4);
    }
}

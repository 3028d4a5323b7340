// A step of many alike micro-batches takes as long where only some of them are simulated. All are
// where operations do not say which micro-batch they are of.
#include "sim/simulate/repeated_micro_batches.h"

#include <algorithm>
#include <cmath>

#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/simulate/hand_made.h"

using namespace sluice;
using namespace sluice::test;

namespace {

void check_same(const SimulatedStep& a, const SimulatedStep& b) {
    CHECK(a.step == Approx(b.step).epsilon(1e-9));
    CHECK(a.first_step == Approx(b.first_step).epsilon(1e-9));
    CHECK(a.steps == b.steps);
    REQUIRE(a.operations.size() == b.operations.size());
    double most = 0;
    for (std::size_t i = 0; i < a.operations.size(); ++i)
        most = std::max({most, std::abs(a.operations[i].start - b.operations[i].start),
                         std::abs(a.operations[i].end - b.operations[i].end)});
    CHECK(most < 1e-9 * b.step);
}

StepPlan without_micro_batches(StepPlan plan) {
    for (Operation& operation : plan.program.operations) operation.micro_batch = 0;
    return plan;
}

void check_as_if_all(const StepPlan& plan, const MachineSpec& machine,
                     const TrainingSpec& training = {}) {
    check_same(simulate_step(plan, machine, training),
               simulate_step(without_micro_batches(plan), machine, training));
}

AlikeMicroBatches alike_of(const StepPlan& plan, const MachineSpec& machine,
                           const TrainingSpec& training = {}) {
    return alike_micro_batches(
        plan.program,
        lane_operations(plan.program, operation_demands(plan.program, machine, training)));
}

/// Whether so many of them are enough.
bool repeats(const StepPlan& plan, const MachineSpec& machine, std::size_t keep) {
    const std::vector<LaneOperation> work =
        lane_operations(plan.program, operation_demands(plan.program, machine, {}));
    const AlikeMicroBatches alike = alike_micro_batches(plan.program, work);
    const auto fewer = with_fewer(work, alike, keep);
    REQUIRE(fewer);
    return with_all(run_steps(*fewer, machine, {}), 0, alike, keep).has_value();
}

/// In each micro-batch 2.5 GB (0.05 s) into one of two slots, `compute` seconds of kernels after it
/// and `update` bytes of Adam after those; in the end 5 GB more of Adam, for which nothing waits.
StepPlan made_plan(int micro_batches, Seconds compute, double update) {
    HandMadePlan made;
    OperationId last = 0;
    std::vector<OperationId> kernels;
    for (int m = 0; m < micro_batches; ++m) {
        Dependencies slot_free;
        if (m >= 2) slot_free.push_back({kernels[static_cast<std::size_t>(m - 2)], false});
        const OperationId in = made.copy_in(2.5e9, slot_free);
        const OperationId kernel = made.compute(compute, {{in, false}});
        kernels.push_back(kernel);
        last = made.adam(update, {{kernel, false}});
        for (const OperationId id : {in, kernel, last})
            made.plan.program.operations[static_cast<std::size_t>(id)].micro_batch = m;
    }
    made.adam(5e9, {{last, false}});
    return made.plan;
}

}  // namespace

TEST_CASE("alike micro-batches: a row of them, without one that waits for something else",
          "[simulate]") {
    StepPlan plan = made_plan(20, 0.1, 1e9);
    AlikeMicroBatches alike = alike_of(plan, round_machine());
    CHECK(alike.first == 6);  // the first two wait for no slot
    CHECK(alike.length == 3);
    CHECK(alike.count == 18);
    plan.program.operations[13].waits_for.push_back({0, false});  // of the fifth
    alike = alike_of(plan, round_machine());
    CHECK(alike.first == 15);
    CHECK(alike.count == 15);
    plan.program.operations[15].link_bytes *= 2;  // of the sixth
    CHECK(alike_of(plan, round_machine()).count == 14);
    CHECK(alike_of(without_micro_batches(plan), round_machine()).count == 0);
}

TEST_CASE("equal micro-batches: the others have the times of a full simulation", "[simulate]") {
    const StepPlan plan = made_plan(200, 0.1, 1e9);
    CHECK(repeats(plan, round_machine(), 10));
    check_as_if_all(plan, round_machine());
}

TEST_CASE("alike micro-batches: where a lane falls behind, more and more, all are simulated",
          "[simulate]") {
    // 0.12 s of Adam beside 0.1 s of compute.
    const StepPlan plan = made_plan(80, 0.1, 12e9);
    CHECK_FALSE(repeats(plan, round_machine(), 10));
    check_as_if_all(plan, round_machine());
}

TEST_CASE("alike micro-batches: where power runs out among them, all are simulated", "[simulate]") {
    // 50 ms each at the power limit, 40 ms for the first 20 after a rest (see clock_test.cpp).
    MachineSpec machine = round_machine();
    machine.gpu.memory_bandwidth = 1e18;
    machine.gpu.clock = {20 * 12, 700, 100, 900 * 0.04 / 50e12, 0, 0, 0.8, 35.0 / 40};
    HandMadePlan made;
    const OperationId rest = made.copy_in(5 * 50e9);
    for (int m = 0; m < 80; ++m) {
        const OperationId product = made.product(2500, 2500, 4'000'000);
        made.plan.program.operations[static_cast<std::size_t>(product)].micro_batch = m;
    }
    made.plan.program.operations[1].waits_for = {{rest, false}};
    made.wait_for_step_before(rest, 80);
    CHECK_FALSE(repeats(made.plan, machine, 10));
    const SimulatedStep step = simulate_step(made.plan, machine, {});
    CHECK(step.step == Approx(5 + 20 * 0.04 + 60 * 0.05));
    check_as_if_all(made.plan, machine);
}

TEST_CASE("alike micro-batches: passes over the model, with weights that come in between",
          "[simulate]") {
    const ModelSpec model = read_model("dense:layers=6,hidden=2048,heads=16,vocabulary=32000");
    TrainingSpec training;
    training.batch = training.passes = 32;
    training.resident_layers = 3;
    training.deferred_layers = 1;
    for (const char* name : {"h200-pcie5-16vcpu-128gib-2", "rtx-4090"}) {
        const MachineSpec machine = resolve_machine(read_machine_profile(name));
        const StepPlan plan = plan_step(model, machine, training);
        CHECK(alike_of(plan, machine, training).count >= 28);
        check_as_if_all(plan, machine, training);
    }
}

TEST_CASE("alike micro-batches: in every schedule", "[simulate]") {
    const ModelSpec model = read_model("dense:layers=3,hidden=512,heads=8,vocabulary=4096");
    TrainingSpec training;
    training.batch = 40;
    training.sequence = 256;
    training.micro_batch = 1;
    for (const char* name : {"h200-pcie5-16vcpu-128gib-2", "h100-sxm-pcie5"}) {
        const MachineSpec machine = resolve_machine(read_machine_profile(name));
        for (const Schedule schedule :
             {Schedule("megatrain"), Schedule("zero3-offload"), Schedule("superoffload"),
              Schedule("fsdp-offload"), Schedule("accelerate-offload"), Schedule("resident"),
              Schedule("llmq"), Schedule("cluster")}) {
            training.schedule = schedule;
            const StepPlan plan = plan_step(model, machine, training);
            INFO(name << ", schedule " << schedule->name);
            CHECK(alike_of(plan, machine, training).count >= 30);
            check_as_if_all(plan, machine, training);
        }
    }
}

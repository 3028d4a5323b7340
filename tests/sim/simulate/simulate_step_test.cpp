// When operations start: lanes in order, waits between lanes, steps one after another. By hand, to
// 1e-9.
#include "sim/simulate/simulate_step.h"

#include <csignal>

#include "sim/answers/predict/predict.h"
#include "sim/base/input_error.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/simulate/hand_made.h"

using namespace sluice;
using namespace sluice::test;

namespace {

SimulatedStep simulate(const HandMadePlan& made, const MachineSpec& machine = round_machine()) {
    return simulate_step(made.plan, machine, TrainingSpec{});
}

/// Four layers: weights of 5 GB (0.1 s) into `depth` slots, 0.08 s of compute each. A slot is free
/// when the layer `depth` before has been computed; the first slots when the step before has.
Seconds step_with_depth(int depth) {
    HandMadePlan made;
    std::vector<OperationId> copies, kernels;
    constexpr int kLayers = 4;
    for (int layer = 0; layer < kLayers; ++layer) {
        Dependencies slot_free;
        if (layer >= depth)
            slot_free.push_back({kernels[static_cast<std::size_t>(layer - depth)], false});
        copies.push_back(made.copy_in(5e9, slot_free));
        kernels.push_back(made.compute(0.08, {{copies.back(), false}}));
    }
    for (int slot = 0; slot < depth; ++slot) {
        const int last_user = kLayers - depth + slot;
        made.plan.program
            .operations[static_cast<std::size_t>(copies[static_cast<std::size_t>(slot)])]
            .waits_for.push_back({kernels[static_cast<std::size_t>(last_user)], true});
    }
    return simulate(made).step;
}

}  // namespace

TEST_CASE("simulate: a single buffer adds copy and compute, two buffers overlap them",
          "[simulate]") {
    // Expectation with one slot: 4 x (0.1 + 0.08) = 0.72 s. With two the copies never stop: 4 x 0.1
    // = 0.4 s.
    CHECK(step_with_depth(1) == Approx(0.72).epsilon(1e-9));
    CHECK(step_with_depth(2) == Approx(0.40).epsilon(1e-9));
    CHECK(step_with_depth(3) == Approx(0.40).epsilon(1e-9));
}

TEST_CASE("simulate: what a program does at a bus error stays its own", "[simulate]") {
    step_with_depth(1);  // starts SimGrid, if no test before has
    struct sigaction now {};
    sigaction(SIGBUS, nullptr, &now);
    CHECK(now.sa_handler == SIG_DFL);
}

TEST_CASE("simulate: an update of the step before holds the next step back", "[simulate]") {
    // Expectation: copy 0.1, compute 0.2, out 4 GB over 40 GB/s = 0.1, Adam 20 GB over 100 GB/s =
    // 0.2; the next copy waits for Adam: 0.6 s a step, the first as any other.
    HandMadePlan made;
    const OperationId in = made.copy_in(5e9);
    const OperationId kernel = made.compute(0.2, {{in, false}});
    const OperationId out = made.copy_out(4e9, {{kernel, false}});
    const OperationId update = made.adam(20e9, {{out, false}});
    made.plan.program.operations[static_cast<std::size_t>(in)].waits_for.push_back({update, true});
    const SimulatedStep step = simulate(made);
    CHECK(step.step == Approx(0.6).epsilon(1e-9));
    CHECK(step.first_step == Approx(0.6).epsilon(1e-9));
    CHECK(step.steady);
    // Relative to the start of compute: the copy ran from -0.1 to 0, Adam from 0.3 to 0.5.
    CHECK(step.operations[static_cast<std::size_t>(in)].start == Approx(-0.1).epsilon(1e-9));
    CHECK(step.operations[static_cast<std::size_t>(update)].end == Approx(0.5).epsilon(1e-9));
}

TEST_CASE(
    "simulate: a plan whose lanes wait for each other is refused, and the next one still runs",
    "[simulate]") {
    HandMadePlan stuck;
    const OperationId kernel = stuck.compute(0.1);
    const OperationId in = stuck.copy_in(1e9, {{kernel, false}});
    stuck.plan.program.operations[static_cast<std::size_t>(kernel)].waits_for.push_back(
        {in, false});
    CHECK_THROWS_AS(simulate(stuck), InternalError);

    HandMadePlan fine;
    fine.compute(0.1);
    CHECK(simulate(fine).step == Approx(0.1).epsilon(1e-9));
}

TEST_CASE("simulate: repeated predictions are identical to the bit", "[simulate]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-pcie5-16vcpu-128gib"));
    for (const Schedule schedule : {Schedule("streamed"), Schedule("megatrain")}) {
        TrainingSpec training;
        training.schedule = schedule;
        const StepPlan plan = plan_step(model, machine, training);
        const SimulatedStep first = simulate_step(plan, machine, training);
        for (int repetition = 0; repetition < 3; ++repetition) {
            const SimulatedStep again = simulate_step(plan, machine, training);
            REQUIRE(again.step == first.step);
            for (std::size_t i = 0; i < first.operations.size(); ++i) {
                REQUIRE(again.operations[i].start == first.operations[i].start);
                REQUIRE(again.operations[i].end == first.operations[i].end);
            }
        }
    }
}

TEST_CASE("simulate: a deeper buffer is not slower, but for what weights ahead take from gradients",
          "[simulate]") {
    // Where the link and host memory are busy all the time, copying weights earlier delays
    // gradients: up to 0.5%.
    const ModelSpec model = read_model("qwen2.5-14b");
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5"));
    for (const std::int64_t batch : {1, 4, 16, 64}) {
        Seconds before = 1e9;
        for (const std::int64_t depth : {1, 2, 3, 4}) {
            TrainingSpec training;
            training.batch = batch;
            training.buffer_depth = depth;
            const Seconds step = predict(model, machine, training).step.seconds;
            CHECK(step <= before * 1.005);
            before = step;
        }
    }
}

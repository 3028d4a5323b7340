// RoundPipe's stages and its plan, against counts by hand.
#include <algorithm>
#include <numeric>

#include "sim/plan/schedules/roundpipe_layers.h"
#include "sim/plan/schedules/roundpipe_stages.h"
#include "sim/plan/step_plan.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/plan/schedules/plan_sums.h"

using namespace sluice;
using test::bytes_of;
using test::link_bytes;

namespace {

// A layer: 4 x 512^2 for attention, 3 x 512 x 1024, two norms: 2,622,464. A table: 1000 x 512.
constexpr double kRoundPipeAll = 4 * 2'622'464.0 + 2 * 512'000 + 512;

StepPlan roundpipe_plan(std::int64_t gpus, Update update = Update::delayed,
                        const char* machine = "a100-80gb-sxm") {
    TrainingSpec training;
    training.schedule = Schedule("roundpipe");
    training.gpus = gpus;
    training.batch = 8;
    training.micro_batch = 2;
    training.passes = 2;
    training.sequence = 64;
    training.own.of<RoundPipeOptions>().update = update;
    return plan_step(parse_generic_model("layers=4,hidden=512,heads=4,intermediate=1024,"
                                         "vocabulary=1000,tied=0"),
                     resolve_machine(read_machine_profile(machine)), training);
}

std::ptrdiff_t count_of(const StepPlan& plan, OperationKind kind) {
    return std::ranges::count(plan.program.operations, kind, &Operation::kind);
}

/// The operation of the step before for which the first copy of a step waits.
OperationId waits_in_step_before(const StepPlan& plan) {
    const OperationId first = find_operation(plan.program, OperationKind::copy_weights_in, -1);
    for (const Dependency& on : plan.program.operations[static_cast<std::size_t>(first)].waits_for)
        if (on.previous_step) return on.operation;
    return -1;
}

}  // namespace

TEST_CASE("roundpipe: stages take about as long as the longest layer", "[plan]") {
    // Embedding, four layers, head. The head's 4 s allow 4 to 4.4 s: four layers forward take 4,
    // with the embedding 4.1.
    const std::vector<LayerTimes> layers = {{0.1, 0.2}, {1, 3}, {1, 3}, {1, 3}, {1, 3}, {0, 4}};
    const RoundPipeStages few = roundpipe_stages(layers, 2);
    CHECK(few.longest == Approx(4.1));  // 6 stages: 24.6 s; with 4 s there are 7: 28 s
    CHECK(few.forward == std::vector<Stage>{{0, 5}});
    CHECK(few.backward == std::vector<Stage>{{5, 6}, {4, 5}, {3, 4}, {2, 3}, {0, 2}});
    // Eight GPUs need eight turns either way, so shorter stages are better.
    const RoundPipeStages many = roundpipe_stages(layers, 8);
    CHECK(many.longest == Approx(4));
    CHECK(many.forward == std::vector<Stage>{{0, 1}, {1, 5}});
}

TEST_CASE("roundpipe: GPUs wait for the stages before their own", "[plan]") {
    // Two GPUs, two micro-batches, stages of 1 and 3 s. The first GPU computes at 0 to 2, the
    // second at 1 to 4 and 4 to 7; each GPU has 4 s of work.
    PipelineStep step{{1, 3}, 2, 2, true};
    CHECK(pipeline_pace(step) == Approx(7.0 / 4));
    // Without a pause the second GPU is always busy: 6 s a step.
    step.drains = false;
    CHECK(pipeline_pace(step) == Approx(6.0 / 4));
    // Three equal stages: each GPU has every second one, and none waits.
    CHECK(pipeline_pace({{1, 1, 1}, 2, 2, false}) == Approx(1));
}

TEST_CASE("roundpipe: gradients leave in each pass and come back in later ones", "[plan]") {
    const StepPlan plan = roundpipe_plan(1);
    const double backward = static_cast<double>(count_of(plan, OperationKind::backward)),
                 forward = static_cast<double>(count_of(plan, OperationKind::forward));
    const double hidden = 4 * 64 * 512 * 2;  // of a pass: two micro-batches of two sequences
    CHECK(link_bytes(plan, OperationKind::copy_gradients_out) ==
          Approx(2 * 2 * kRoundPipeAll + (backward - 2) * hidden));
    CHECK(link_bytes(plan, OperationKind::copy_checkpoint_out) == Approx(forward * hidden));
    std::vector<double> arrived;
    for (const Operation& one : plan.program.operations)
        if (one.kind == OperationKind::copy_weights_in) arrived.push_back(one.link_bytes);
    const auto half = arrived.begin() + std::ssize(arrived) / 2;
    CHECK(std::accumulate(half, arrived.end(), 0.0) - std::accumulate(arrived.begin(), half, 0.0) ==
          Approx(2 * kRoundPipeAll));
    CHECK(bytes_of(plan, "fp32 masters and moments") + bytes_of(plan, "fp32 gradients") +
              bytes_of(plan, "fp16 gradients") + bytes_of(plan, "fp16 parameters") ==
          20 * kRoundPipeAll);
}

TEST_CASE("roundpipe: GPUs share a step's work and copies", "[plan]") {
    const StepPlan one = roundpipe_plan(1), two = roundpipe_plan(2);
    CHECK(two.program.flops() == Approx(one.program.flops() / 2));
    CHECK(link_bytes(two, OperationKind::copy_gradients_out) ==
          Approx(link_bytes(one, OperationKind::copy_gradients_out) / 2));
}

TEST_CASE("roundpipe: micro-batches need not be a multiple of the GPUs, nor equal", "[plan]") {
    // Ten sequences in micro-batches of at most three: four, of 3, 3, 2 and 2.
    const auto plan = [](std::int64_t gpus) {
        TrainingSpec training;
        training.schedule = Schedule("roundpipe");
        training.gpus = gpus;
        training.batch = 10;
        training.micro_batch = 3;
        training.sequence = 64;
        check_training_spec(training);
        CHECK(training.shared_micro_batches_of_a_pass() == 4);
        return plan_step(parse_generic_model("layers=4,hidden=512,heads=4,intermediate=1024,"
                                             "vocabulary=1000,tied=0"),
                         resolve_machine(read_machine_profile("a100-80gb-sxm")), training);
    };
    const StepPlan one = plan(1), three = plan(3);
    CHECK(three.program.flops() == Approx(one.program.flops() / 3));
    const Operation& forward = three.program.operations[static_cast<std::size_t>(
        find_operation(three.program, OperationKind::forward, -1))];
    CHECK(forward.kernel_runs == Approx(10.0 / 3 / 3));
    CHECK(link_bytes(three, OperationKind::copy_checkpoint_out) /
              static_cast<double>(count_of(three, OperationKind::copy_checkpoint_out)) ==
          Approx(10.0 / 3 * 64 * 512 * 2));
}

TEST_CASE("roundpipe: a pass has at least one micro-batch", "[plan]") {
    TrainingSpec training;
    training.schedule = Schedule("roundpipe");
    training.batch = 5;
    training.micro_batch = 3;
    training.passes = 2;
    CHECK_THROWS_WITH(check_training_spec(training),
                      ContainsSubstring("--batch is 5, expected at least 6: 3 sequences in each of "
                                        "2 passes"));
}

TEST_CASE("roundpipe: the update starts when its gradients are collected", "[plan]") {
    for (const Update update : {Update::delayed, Update::immediate}) {
        const StepPlan plan = roundpipe_plan(2, update);
        const auto& waits = plan.program
                                .operations[static_cast<std::size_t>(
                                    find_operation(plan.program, OperationKind::update, -1))]
                                .waits_for;
        CHECK(std::ranges::count(waits,
                                 find_operation(plan.program, OperationKind::collect_gradients, -1),
                                 &Dependency::operation) == 1);
    }
}

TEST_CASE("roundpipe: a delayed update is waited for a step later", "[plan]") {
    const StepPlan delayed = roundpipe_plan(2), immediate = roundpipe_plan(2, Update::immediate);
    CHECK(waits_in_step_before(delayed) >= 0);
    CHECK(waits_in_step_before(delayed) <
          find_operation(delayed.program, OperationKind::update, -1));
    CHECK(waits_in_step_before(immediate) >
          find_operation(immediate.program, OperationKind::update, -1));
}

TEST_CASE("roundpipe: no more GPUs than a node has", "[plan]") {
    CHECK_THROWS_WITH(roundpipe_plan(2, Update::delayed, "rtx-4090"),
                      ContainsSubstring("--gpus is 2, expected at most the 1 of a node"));
}

// Are micro-batches that are one operation the same step as with an operation each, and does the
// work to plan and simulate a step not grow with their number?
#include "sim/plan/schedules/streamed.h"
#include "sim/simulate/simulate_step.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

/// An operation each. Precondition: nothing of a micro-batch is copied.
StepPlan each_apart(const StepPlan& plan) {
    StepPlan out = plan;
    out.program.operations.clear();
    std::vector<OperationId> last;  // by the operation that had them all
    for (const Operation& all : plan.program.operations) {
        Operation one = all;
        one.micro_batches = 1;
        one.kernel_runs = all.kernel_runs / all.micro_batches;
        for (; one.micro_batch < all.micro_batch + all.micro_batches; ++one.micro_batch) {
            out.program.operations.push_back(one);
            one.waits_for.clear();
        }
        last.push_back(static_cast<OperationId>(out.program.operations.size()) - 1);
    }
    for (Operation& one : out.program.operations)
        for (Dependency& wait : one.waits_for)
            wait.operation = last[static_cast<std::size_t>(wait.operation)];
    return out;
}

TrainingSpec in_micro_batches(std::int64_t batch) {
    TrainingSpec training;
    training.batch = batch;
    training.micro_batch = 1;
    training.sequence = 512;
    return training;
}

}  // namespace

TEST_CASE("micro-batches of one operation: the step is that of an operation each", "[simulate]") {
    const ModelSpec model = read_model("dense:layers=4,hidden=1024,heads=8,vocabulary=4096");
    for (const char* name : {"h200-pcie5-16vcpu-128gib-2", "rtx-4090"}) {
        const MachineSpec machine = resolve_machine(read_machine_profile(name));
        for (const Clipping clipping :
             {Clipping::automatic, Clipping::exact, Clipping::speculative, Clipping::off})
            for (const std::int64_t passes : {1, 2})
                for (const auto step : {ClippedStep::waits, ClippedStep::ahead}) {
                    CAPTURE(name, static_cast<int>(clipping), passes, static_cast<int>(step));
                    TrainingSpec training = in_micro_batches(24);
                    training.passes = passes;
                    training.clipping = clipping;
                    const StepPlan plan = plan_streamed(model, machine, training, step).step;
                    const StepPlan apart = each_apart(plan);
                    CHECK(apart.program.operations.size() > 2 * plan.program.operations.size());
                    CHECK(plan.program.flops() == Approx(apart.program.flops()));
                    const SimulatedStep one = simulate_step(plan, machine, training);
                    const SimulatedStep each = simulate_step(apart, machine, training);
                    CHECK(one.step == Approx(each.step).epsilon(1e-5));
                    CHECK(one.first_step == Approx(each.first_step).epsilon(1e-5));
                }
    }
}

TEST_CASE("micro-batches of one operation: a plan of many has no more operations", "[simulate]") {
    const ModelSpec model = read_model("dense:layers=4,hidden=1024,heads=8,vocabulary=4096");
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5"));
    for (const auto place : {CheckpointPlacement::device, CheckpointPlacement::host})
        for (const std::int64_t kept : {0, 2}) {
            TrainingSpec few = in_micro_batches(32), many = in_micro_batches(1024);
            few.checkpoints = many.checkpoints = place;
            few.host_kept_layers = many.host_kept_layers = kept;
            const auto operations = [&](const TrainingSpec& training) {
                return plan_step(model, machine, training).program.operations.size();
            };
            CAPTURE(static_cast<int>(place), kept);
            CHECK(operations(many) <= operations(few));
        }
}

// Which waits follow from reads and writes? Cases that can be counted by hand, and that each wait
// of a real plan is needed.
#include "sim/plan/waits.h"

#include "sim/plan/plan_builder.h"
#include "sim/plan/schedules/streamed.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/plan/unrolled_plan.h"

using namespace sluice;

namespace {

Operation work(BufferUses uses) { return copy_operation(1, std::move(uses)); }

/// "3 0-": operation 3 of this step, operation 0 of the step before.
std::string waits_of(const StepPlan& plan, OperationId id) {
    std::string out;
    for (const Dependency& on : plan.program.operations[static_cast<std::size_t>(id)].waits_for)
        out +=
            (out.empty() ? "" : " ") + std::to_string(on.operation) + (on.previous_step ? "-" : "");
    return out;
}

StepPlan derived(PlanBuilder& build) {
    StepPlan plan = build.finish();
    derive_waits(plan);
    return plan;
}

}  // namespace

TEST_CASE("waits: a slot is read after it was filled, and filled after it was read", "[plan]") {
    PlanBuilder build(KernelStyle::fused);
    const BufferId slots = build.on_device("slots", MemoryKind::weights, 2);
    for (const int layer : {0, 1, 2}) {
        build.add(OperationKind::copy_weights_in, layer, work({writes(slots, layer % 2)}));
        build.add(OperationKind::forward, layer, work({reads(slots, layer % 2)}));
    }
    const StepPlan plan = derived(build);
    CHECK(waits_of(plan, 0) == "5-");  // the last reader of its slot is layer 2 of the step before
    CHECK(waits_of(plan, 1) == "0");
    CHECK(waits_of(plan, 2) == "");  // layer 1 was read before layer 2, for which 0 waits
    CHECK(waits_of(plan, 3) == "2");
    CHECK(waits_of(plan, 4) == "1");
    CHECK(waits_of(plan, 5) == "4");
}

TEST_CASE("waits: readers do not wait for each other, a writer waits for all of them", "[plan]") {
    PlanBuilder build(KernelStyle::fused);
    const BufferId place = build.on_device("place", MemoryKind::weights, 1);
    build.add(OperationKind::copy_weights_in, 0, work({writes(place)}));
    build.add(OperationKind::forward, 0, work({reads(place)}));
    build.add(OperationKind::copy_weights_out, 0, work({reads(place)}));
    build.add(OperationKind::update, 0, work({writes(place)}));
    const StepPlan plan = derived(build);
    CHECK(waits_of(plan, 0) == "3-");
    CHECK(waits_of(plan, 1) == "0");
    CHECK(waits_of(plan, 2) == "0");
    CHECK(waits_of(plan, 3) == "2 1");
}

TEST_CASE("waits: parts of a buffer are places of their own", "[plan]") {
    PlanBuilder build(KernelStyle::fused);
    const BufferId rows = build.on_device("rows", MemoryKind::checkpoints, 4);
    build.add(OperationKind::copy_embeddings_in, 0, work({writes(rows, 0, 4)}));
    build.add(OperationKind::forward, 0, work({reads(rows, 0, 2)}));
    build.add(OperationKind::copy_checkpoint_out, 0, work({reads(rows, 2, 2)}));
    build.add(OperationKind::forward, 1, work({writes(rows, 0, 2)}));
    build.add(OperationKind::forward, 2, work({writes(rows, 3)}));
    const StepPlan plan = derived(build);
    CHECK(waits_of(plan, 0) == "4-");  // which has waited for 2
    CHECK(waits_of(plan, 3) == "");
    CHECK(waits_of(plan, 4) == "2");
}

TEST_CASE("waits: a buffer of the arena waits for those that may have had its memory", "[plan]") {
    PlanBuilder build(KernelStyle::fused);
    build.in_one_arena();
    const BufferId first = build.device_buffer("first", MemoryKind::activations, 1);
    const BufferId second = build.device_buffer("second", MemoryKind::activations, 1);
    build.add(OperationKind::forward, 0, work({writes(first)}));
    build.add(OperationKind::copy_kept_out, 0, work({reads(first)}));
    build.add(OperationKind::loss, 0, work({writes(second)}));
    build.add(OperationKind::copy_gradients_out, 0, work({reads(second)}));
    const StepPlan plan = derived(build);
    CHECK(waits_of(plan, 0) == "3-");
    CHECK(waits_of(plan, 2) == "1");
}

TEST_CASE("waits: without any of its waits, a plan has a race", "[plan]") {
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5"));
    const ModelSpec model = parse_generic_model("layers=6,hidden=256,vocabulary=5000");
    TrainingSpec t;
    t.batch = 2;
    t.resident_layers = t.visiting_layers = t.host_kept_layers = 1;
    t.late_moment_layers = 2;
    t.checkpoints = CheckpointPlacement::host;
    const StepPlan plan = plan_streamed(model, machine, t, ClippedStep::ahead).step;
    for (std::size_t i = 0; i < plan.program.operations.size(); ++i) {
        const Dependencies& waits = plan.program.operations[i].waits_for;
        for (std::size_t w = 0; w < waits.size(); ++w) {
            StepPlan without = plan;
            Dependencies& left = without.program.operations[i].waits_for;
            left.erase_if([&](const Dependency& one) {
                return one.operation == waits[w].operation &&
                       one.previous_step == waits[w].previous_step;
            });
            const Unrolled unrolled(without);
            const int step = unrolled.count(), later = static_cast<int>(i) + 2 * step;
            const int before = waits[w].operation + (waits[w].previous_step ? 1 : 2) * step;
            CAPTURE(i, waits[w].operation, waits[w].previous_step);
            CHECK(!unrolled.ordered(before, later));
        }
    }
}

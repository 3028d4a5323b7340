// Do parts of a buffer on a disk come to host memory before an operation uses them, and go back?
#include "sim/plan/plan_builder.h"
#include "sim/plan/waits.h"
#include "sim/simulate/simulate_step.h"
#include "tests/catch.h"
#include "tests/sim/simulate/hand_made.h"

using namespace sluice;

namespace {

/// AdamW of three sections whose states of 10, 20 and 30 GB are on a disk.
StepPlan three_updates(std::int64_t places) {
    PlanBuilder build(KernelStyle::fused);
    const BufferId states = build.on_storage(
        "states", "states, in use", MemoryKind::optimizer_state, {10e9, 20e9, 30e9}, places);
    build.add(OperationKind::forward, 0, gpu_operation({}, {reads(kStepOutcome)}));
    for (int section = 0; section < 3; ++section)
        build.add(
            OperationKind::update, section,
            host_operation(HostWork::adam, 1e9, {writes(states, section), writes(kStepOutcome)}));
    StepPlan out = build.finish();
    derive_waits(out);
    return out;
}

std::string order(const StepPlan& plan) {
    std::string out;
    for (const Operation& op : plan.program.operations)
        out += (out.empty() ? "" : ", ") + operation_label(op, 3);
    return out;
}

bool waits(const StepPlan& plan, OperationId id, OperationId on) {
    for (const Dependency& wait : plan.program.operations[static_cast<std::size_t>(id)].waits_for)
        if (wait.operation == on && !wait.previous_step) return true;
    return false;
}

}  // namespace

TEST_CASE("stored parts: each comes before its update and goes back after it", "[plan]") {
    const StepPlan plan = three_updates(2);
    CHECK(
        order(plan) ==
        "forward 0, read states 0, update 0, write states 0, read states 1, update 1, write states "
        "1, read states 2, update 2, write states 2");
    const OperationId read0 = 1, update0 = 2, write0 = 3, read1 = 4, read2 = 7;
    CHECK(plan.program.operations[read1].link_bytes == 20e9);
    CHECK(waits(plan, update0, read0));
    CHECK(waits(plan, write0, update0));
    CHECK_FALSE(waits(plan, read1, write0));  // it has the other place
    CHECK(waits(plan, read2, write0));        // it has the same one
}

TEST_CASE("stored parts: the disk has all, the host the places", "[plan]") {
    const StepPlan plan = three_updates(2);
    const auto operations = static_cast<OperationId>(plan.program.operations.size());
    CHECK(peak_memory(plan.memory, Tier::storage, operations).bytes == 60'000'000'000);
    CHECK(peak_memory(plan.memory, Tier::host, operations).bytes == 60'000'000'000);
    CHECK(peak_memory(three_updates(1).memory, Tier::host, operations).bytes == 30'000'000'000);
}

TEST_CASE("stored parts: with two places the disk reads while it writes", "[plan]") {
    MachineSpec machine = test::round_machine();
    machine.storage.read = machine.storage.write = 10e9;
    const auto step = [&](std::int64_t places) {
        return simulate_step(three_updates(places), machine, {}).step;
    };
    // 60 GB are read and written at 10 GB/s; an update of 1 GB takes 10 ms.
    CHECK(step(1) == Approx(12.03).epsilon(1e-3));
    CHECK(step(2) < 10);
    CHECK(step(2) >= 6);
}

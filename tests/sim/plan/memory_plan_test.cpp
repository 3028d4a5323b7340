#include "sim/plan/plan_builder.h"
#include "sim/plan/step_plan.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

void add_operation(PlanBuilder& build, BufferUses buffers = {}) {
    build.add(OperationKind::forward, 0, {}, gpu_operation({}, std::move(buffers)));
}

}  // namespace

TEST_CASE("memory plan: the peak is the largest sum of buffers alive at one operation", "[plan]") {
    // a: operations 0 to 1 (10), b: 1 to 2 (20), c: 3 (25), always: 5.
    // Alive: 15, 35, 25, 30. Peak 35 at operation 1.
    PlanBuilder build(KernelStyle::fused);
    build.standing("always", MemoryKind::workspace, Tier::device, 5);
    const BufferId a = build.buffer("a", MemoryKind::weights, Tier::device, 10);
    const BufferId b = build.buffer("b", MemoryKind::loss, Tier::device, 20);
    const BufferId c = build.buffer("c", MemoryKind::loss, Tier::device, 25);
    const BufferId on_host = build.buffer("host", MemoryKind::loss, Tier::host, 1000);
    add_operation(build, {a, on_host});
    add_operation(build, {a, b});
    add_operation(build, {b});
    add_operation(build, {c});
    const StepPlan plan = build.finish();
    const Peak peak = peak_memory(plan.memory, Tier::device, 4);
    CHECK(peak.bytes == 35);
    CHECK(peak.operation == 1);
    CHECK(peak.by_kind[static_cast<std::size_t>(MemoryKind::weights)] == 10);
    CHECK(peak.by_kind[static_cast<std::size_t>(MemoryKind::loss)] == 20);
    CHECK(peak.by_kind[static_cast<std::size_t>(MemoryKind::workspace)] == 5);
    CHECK(peak_memory(plan.memory, Tier::host, 4).bytes == 1000);
}

TEST_CASE("memory plan: a buffer that no operation uses takes no memory", "[plan]") {
    PlanBuilder build(KernelStyle::fused);
    const BufferId used = build.buffer("used", MemoryKind::weights, Tier::device, 10);
    build.buffer("unused", MemoryKind::loss, Tier::device, 1000);
    add_operation(build);
    add_operation(build, {used});
    const Peak peak = peak_memory(build.finish().memory, Tier::device, 2);
    CHECK(peak.bytes == 10);
    CHECK(peak.operation == 1);
    CHECK(peak.by_kind[static_cast<std::size_t>(MemoryKind::loss)] == 0);
}

TEST_CASE("memory plan: budgets and capacities decide the fit, with the exact shortfall",
          "[plan]") {
    PlanBuilder build(KernelStyle::fused);
    build.standing("device", MemoryKind::weights, Tier::device, 1000);
    build.standing("host", MemoryKind::weights, Tier::host, 500);
    build.host_moments({500}, {500}, {500}, {700, "an output buffer"});
    add_operation(build);
    const StepPlan plan = build.finish();
    MachineSpec machine;
    machine.gpu.memory_capacity = 1100;
    machine.gpu.context = 150;
    machine.host.memory_capacity = 800;
    machine.host.system_reserve = 50;
    TrainingSpec training;
    const Fit fit = check_fit(plan, machine, training);
    CHECK(fit.device().usable == 950);
    CHECK(fit.device().shortfall() == 50);
    CHECK(fit.host().peak.bytes == 700);  // saving needs more than the step
    CHECK(fit.host().shortfall() == 0);
    training.host_budget_bytes = 600;
    CHECK(check_fit(plan, machine, training).host().shortfall() == 100);
}

TEST_CASE("memory plan: unified memory holds both tiers in one pool", "[plan]") {
    PlanBuilder build(KernelStyle::fused);
    build.standing("device", MemoryKind::weights, Tier::device, 1000);
    build.standing("host", MemoryKind::weights, Tier::host, 500);
    add_operation(build);
    MachineSpec machine;
    machine.unified_memory = true;
    machine.gpu.memory_capacity = machine.host.memory_capacity = 1400;
    const Fit fit = check_fit(build.finish(), machine, TrainingSpec{});
    CHECK(fit.device().shortfall() == 0);
    CHECK(fit.host().peak.bytes == 1500);
    CHECK(fit.host().shortfall() == 100);
}

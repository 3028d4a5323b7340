// Bytes over a step, counted by hand and against the plan's peak.
#include "sim/plan/memory_timeline.h"

#include "tests/catch.h"

using namespace sluice;

namespace {

/// A step of 10 s: compute 0-4 and 4-8, a copy out 8-12 that reaches into the next step.
TimedPlan three_operations() {
    TimedPlan report;
    report.step.seconds = 10;
    report.plan.program.operations.resize(3);
    report.step.intervals = {{0, 4}, {4, 8}, {8, 12}};
    return report;
}

/// Adds a buffer that these operations use.
void add_buffer(TimedPlan& report, MemoryKind kind, Bytes bytes, OperationId first,
                OperationId last, Tier tier = Tier::device) {
    const auto id = static_cast<BufferId>(report.plan.memory.buffers.size());
    report.plan.memory.buffers.push_back({"buffer", kind, tier, bytes, first, last});
    for (OperationId i = first; i >= 0 && i <= last; ++i)
        report.plan.program.operations[static_cast<std::size_t>(i)].uses.push_back(id);
}

}  // namespace

TEST_CASE("memory over a step: buffers come with their first and go with their last operation",
          "[report]") {
    TimedPlan report = three_operations();
    add_buffer(report, MemoryKind::weights, 100, kWholeStep, kWholeStep);
    add_buffer(report, MemoryKind::activations, 10, 0, 0);
    add_buffer(report, MemoryKind::checkpoints, 1, 0, 1);
    add_buffer(report, MemoryKind::workspace, 5000, 0, -1);  // that nothing uses
    add_buffer(report, MemoryKind::weights, 7000, 0, 1, Tier::host);
    const std::vector<MemoryMoment> moments = memory_over_step(report, Tier::device);
    REQUIRE(moments.size() == 3);
    CHECK(moments[0].start == 0);
    CHECK(moments[0].bytes == 111);
    CHECK(moments[1].start == Approx(4));
    CHECK(moments[1].bytes == 101);
    CHECK(moments[1].by_kind[static_cast<std::size_t>(MemoryKind::activations)] == 0);
    CHECK(moments[2].start == Approx(8));
    CHECK(moments[2].bytes == 100);
    CHECK(most_memory(moments).bytes == 111);
    CHECK(memory_changes(report, Tier::device));
    CHECK(most_memory(memory_over_step(report, Tier::host)).bytes == 7000);
}

TEST_CASE("memory over a step: what lives into the next step is there at the start of this one",
          "[report]") {
    TimedPlan report = three_operations();
    add_buffer(report, MemoryKind::gradients, 10, 1, 2);  // 4 to 12: 4 to 10, and 0 to 2
    const std::vector<MemoryMoment> moments = memory_over_step(report, Tier::device);
    REQUIRE(moments.size() == 3);
    CHECK(moments[0].bytes == 10);
    CHECK(moments[1].start == Approx(2));
    CHECK(moments[1].bytes == 0);
    CHECK(moments[2].start == Approx(4));
    CHECK(moments[2].bytes == 10);
}

TEST_CASE("memory over a step: what lives as long as a step is there once", "[report]") {
    TimedPlan report = three_operations();
    add_buffer(report, MemoryKind::gradients, 10, 0, 2);  // 0 to 12
    const std::vector<MemoryMoment> moments = memory_over_step(report, Tier::device);
    REQUIRE(moments.size() == 1);
    CHECK(moments[0].bytes == 10);
}

TEST_CASE("memory over a step: one moment where nothing changes", "[report]") {
    TimedPlan report = three_operations();
    add_buffer(report, MemoryKind::weights, 100, kWholeStep, kWholeStep);
    REQUIRE(memory_over_step(report, Tier::device).size() == 1);
    CHECK_FALSE(memory_changes(report, Tier::device));
}

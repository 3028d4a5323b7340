// Whom compute waited for: gaps charged by hand.
#include "sim/plan/step.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

Operation on(Lane lane, Dependencies waits = {}) {
    Operation operation;
    operation.lane = lane;
    operation.waits_for = std::move(waits);
    return operation;
}

double exposed(const LaneTimes& lanes, Lane lane) { return lanes[lane].exposed; }

}  // namespace

TEST_CASE(
    "timeline: a gap is charged to the copy that ended it, and before that to what the copy waited "
    "for",
    "[report]") {
    // Step of 10 s. compute a 0-2; out 2-3; update 3-6; copy in 6-8 (waits for the update); compute
    // b 8-10. b's gap 2-8: copy in 2 s, update 3 s, copy out 1 s.
    StepProgram program;
    program.operations = {on(Work::compute), on(Work::device_to_host, {{0, false}}),
                          on(Work::optimizer, {{1, false}}), on(Work::host_to_device, {{2, false}}),
                          on(Work::compute, {{3, false}})};
    const std::vector<OperationInterval> intervals = {{0, 2}, {2, 3}, {3, 6}, {6, 8}, {8, 10}};
    const LaneTimes lanes = lane_times(program, intervals, 10);
    CHECK(exposed(lanes, Work::host_to_device) == Approx(2));
    CHECK(exposed(lanes, Work::optimizer) == Approx(3));
    CHECK(exposed(lanes, Work::device_to_host) == Approx(1));
    CHECK(lanes[Work::compute].busy == Approx(4));
    CHECK(lanes[Work::compute].idle == Approx(6));
}

TEST_CASE("timeline: the gap between two steps is charged through waits for the step before",
          "[report]") {
    // Step of 5 s: copy in -1 to 0, compute 0-3, update 3-4 of the step before runs just before the
    // copy.
    StepProgram program;
    program.operations = {on(Work::host_to_device, {{2, true}}), on(Work::compute, {{0, false}}),
                          on(Work::optimizer, {{1, false}})};
    const std::vector<OperationInterval> intervals = {{-1, 0}, {0, 3}, {3, 4}};
    const LaneTimes lanes = lane_times(program, intervals, 5);
    CHECK(exposed(lanes, Work::host_to_device) == Approx(1));
    CHECK(exposed(lanes, Work::optimizer) == Approx(1));
}

TEST_CASE("timeline: the stretches of a gap name whom compute waits for", "[report]") {
    // As above: b's gap 2-8 is copy in 6-8, update 3-6, copy out 2-3.
    StepProgram program;
    program.operations = {on(Work::compute), on(Work::device_to_host, {{0, false}}),
                          on(Work::optimizer, {{1, false}}), on(Work::host_to_device, {{2, false}}),
                          on(Work::compute, {{3, false}})};
    const std::vector<ExposedWait> waits =
        exposed_waits(program, {{0, 2}, {2, 3}, {3, 6}, {6, 8}, {8, 10}}, 10);
    REQUIRE(waits.size() == 3);
    CHECK(waits[0].lane.work == Work::host_to_device);
    CHECK(waits[0].cause == 3);
    CHECK(waits[0].start == Approx(6));
    CHECK(waits[0].end == Approx(8));
    CHECK(waits[1].lane.work == Work::optimizer);
    CHECK(waits[1].start == Approx(3));
    CHECK(waits[2].lane.work == Work::device_to_host);
    CHECK(waits[2].end == Approx(3));
    for (const ExposedWait& wait : waits) CHECK(wait.waiting == 4);
}

TEST_CASE("timeline: a long step's critical path is followed to its start", "[report]") {
    StepProgram program;
    std::vector<OperationInterval> intervals;
    for (int i = 0; i < 60'000; ++i) {
        program.operations.push_back(on(Work::compute));
        intervals.push_back({1.0 * i, 1.0 * i + 1});
    }
    const auto shares = critical_shares(program, intervals, 60'000);
    CHECK(shares[Work::compute] == Approx(1));
}

TEST_CASE("timeline: hidden work is not exposed", "[report]") {
    StepProgram program;
    program.operations = {on(Work::host_to_device), on(Work::compute), on(Work::host_to_device),
                          on(Work::compute, {{2, false}})};
    const LaneTimes lanes = lane_times(program, {{-1, 0}, {0, 2}, {0, 1}, {2, 4}}, 4);
    CHECK(exposed(lanes, Work::host_to_device) == 0);
    CHECK(lanes[Work::host_to_device].busy == Approx(2));
    CHECK(lanes[Work::host_to_device].idle == Approx(2));
}

TEST_CASE("timeline: the critical path runs through the lane that is always at work", "[report]") {
    // Compute 1 s, gradients of two layers 1 s each, updates of 4 s, one after the other; the next
    // compute waits for the second: 10 s a step. The chain is compute, one copy, both updates.
    StepProgram program;
    program.operations = {on(Work::compute, {{4, true}}), on(Work::device_to_host, {{0, false}}),
                          on(Work::optimizer, {{1, false}}), on(Work::device_to_host, {{2, false}}),
                          on(Work::optimizer, {{3, false}})};
    // Update of layer 0 from 2 to 6, layer 1 from 6 (its gradients came before) to 10.
    program.operations[3].waits_for = {{0, false}};
    const std::vector<OperationInterval> intervals = {{0, 1}, {1, 2}, {2, 6}, {2, 3}, {6, 10}};
    const auto shares = critical_shares(program, intervals, 10);
    CHECK(shares[Work::optimizer] == Approx(0.8));
    CHECK(shares[Work::compute] == Approx(0.1));
    CHECK(shares[Work::device_to_host] == Approx(0.1));
}

TEST_CASE("timeline: an operation's time on the critical path is all of it, none, or a share",
          "[report]") {
    // As above: the first copy and both updates are on the path, the second copy is beside it.
    StepProgram program;
    program.operations = {on(Work::compute, {{4, true}}), on(Work::device_to_host, {{0, false}}),
                          on(Work::optimizer, {{1, false}}), on(Work::device_to_host, {{0, false}}),
                          on(Work::optimizer, {{3, false}})};
    const std::vector<OperationInterval> intervals = {{0, 1}, {1, 2}, {2, 6}, {2, 3}, {6, 9}};
    // The next compute starts at 10: the pause of 1 s belongs to no operation.
    CHECK(critical_seconds(program, intervals, 10) == std::vector<Seconds>{1, 1, 4, 0, 3});
    const auto shares = critical_shares(program, intervals, 10);
    CHECK(shares[Work::optimizer] == Approx(0.8));
}

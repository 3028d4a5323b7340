// Which steps does a measured report count? On plain intervals.
#include "engine/train/measured_report.h"

#include "sim/report/report.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

/// A copy, then compute.
StepProgram program() {
    StepProgram program;
    program.operations.resize(2);
    program.operations[0].lane = Work::host_to_device;
    program.operations[1].lane = Work::compute;
    return program;
}

/// The copy begins 0.25 s before the compute, which begins at `start`; `distinct` marks the step.
void add(MeasuredSteps& steps, Seconds start, std::int64_t distinct = 0) {
    steps.add(program(), {{{start - 0.25, start}, {start, start + 0.5}}, distinct});
}

/// Steps of these durations, marked 0, 1, ..., and the start of one more.
MeasuredSteps steps_of(const std::vector<Seconds>& durations) {
    MeasuredSteps steps;
    Seconds start = 100;
    for (std::size_t i = 0; i < durations.size(); ++i) {
        add(steps, start, static_cast<std::int64_t>(i));
        start += durations[i];
    }
    add(steps, start, -1);
    return steps;
}

}  // namespace

TEST_CASE("measured steps: two in a row are needed", "[train]") {
    MeasuredSteps steps;
    CHECK(steps.empty());
    add(steps, 5);
    CHECK(steps.empty());
    add(steps, 7);
    CHECK_FALSE(steps.empty());
    CHECK(steps.count() == 1);
    CHECK(steps.step_seconds() == Approx(2));
    CHECK(steps.spread() == std::pair<Seconds, Seconds>(2, 2));
    REQUIRE(steps.typical().intervals.size() == 2);
    CHECK(steps.typical().intervals[0].start == Approx(-0.25));
    CHECK(steps.typical().intervals[1].start == 0);
    CHECK(steps.typical().intervals[1].end == Approx(0.5));
}

TEST_CASE("measured steps: only the later half counts", "[train]") {
    // The early ones are quick: 3 would be nearest the median of all.
    const MeasuredSteps steps = steps_of({1, 1, 1, 3, 2, 6, 4});
    CHECK(steps.count() == 4);
    CHECK(steps.spread() == std::pair<Seconds, Seconds>(2, 6));
    CHECK(steps.step_seconds() == Approx(4));
    CHECK(steps.typical().distinct_tokens == 6);
}

TEST_CASE("measured steps: the typical one is of the later half", "[train]") {
    // The second lasts exactly their median too, but does not count.
    const MeasuredSteps steps = steps_of({9, 5.5, 9, 4, 5.5, 5, 7});
    CHECK(steps.step_seconds() == Approx(5.5));
    CHECK(steps.typical().distinct_tokens == 4);
    const MeasuredSteps even = steps_of({5, 5, 4.75, 8});
    CHECK(even.count() == 2);
    CHECK(even.typical().distinct_tokens == 3);
}

TEST_CASE("measured steps: time over a pause is no step", "[train]") {
    MeasuredSteps steps;
    add(steps, 0);
    add(steps, 1);
    steps.pause();  // a checkpoint is saved
    add(steps, 50);
    add(steps, 52);
    steps.pause();
    steps.pause();
    add(steps, 90);
    CHECK(steps.count() == 1);  // of two, 1 s and 2 s
    CHECK(steps.step_seconds() == Approx(2));
    CHECK(steps.spread().second == Approx(2));
}

TEST_CASE("measured steps: the newest 200 are kept", "[train]") {
    std::vector<Seconds> durations(150, 100.0);
    durations.insert(durations.end(), 199, 1.0);
    const MeasuredSteps steps = steps_of(durations);
    CHECK(steps.count() == 100);
    CHECK(steps.spread() == std::pair<Seconds, Seconds>(1, 1));
    durations.assign(1000, 1.0);
    CHECK(steps_of(durations).count() == 100);
}

TEST_CASE("measured steps: the range of many leaves out a tenth, of few nothing", "[train]") {
    std::vector<Seconds> durations(40, 2.0);  // of which the later 20 count
    durations[30] = 1;
    durations[31] = 9;
    CHECK(steps_of(durations).count() == 20);
    CHECK(steps_of(durations).spread() == std::pair<Seconds, Seconds>(2, 2));
    durations.resize(38);
    CHECK(steps_of(durations).count() == 19);
    CHECK(steps_of(durations).spread() == std::pair<Seconds, Seconds>(1, 9));
}

TEST_CASE("measured report: different tokens are counted once each", "[train]") {
    CHECK(distinct_tokens(std::vector<std::int32_t>{3, 0, 3, 7, 0}, 8) == 3);
    CHECK(distinct_tokens({}, 8) == 0);
}

TEST_CASE("measured report: the plan's report with what was measured", "[train]") {
    PlannedStep plan;
    plan.program = program();
    plan.fit.device().peak.bytes = 1000;
    plan.assumptions = {"one"};
    const MeasuredSteps steps = steps_of({2, 3});
    TimedPlan report = measured_report({}, plan, steps, {DType::bf16, 70, 80, 0, 650.0});
    CHECK(report.step.measured->gpu_watts == 650);
    CHECK(report.step.measured);
    CHECK(report.step.seconds == Approx(3));
    CHECK(report.step.measured->steps == 1);
    CHECK(report.step.measured->device == 70);
    CHECK(report.step.measured->host == 80);
    CHECK(report.asked.training.distinct_tokens == 1);
    CHECK(report.step.intervals.size() == 2);
    CHECK(report.step.measured->activations == Precision::bf16);
    CHECK(report.plan.fit.device().peak.bytes == 1000);
    CHECK(report.plan.assumptions.size() == 1);
    report = measured_report({}, plan, steps, {DType::fp32, 70, 80, 3, {}});
    CHECK(report.step.measured->gpu_watts == 0);
    CHECK(report.step.measured->activations == Precision::fp32);
    CHECK(report.plan.fit.device().peak.bytes == 1000);
    REQUIRE(assumptions(report).size() == 2);
    CHECK_THAT(assumptions(report)[1], ContainsSubstring("3 steps that speculative clipping"));
}

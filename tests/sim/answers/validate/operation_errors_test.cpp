// Which operations explain a wrong step? By hand.
#include "sim/answers/validate/operation_errors.h"

#include <nlohmann/json.hpp>

#include "sim/report/answers/answer_reports.h"
#include "tests/catch.h"
#include "tests/sim/report/one_layer_report.h"

using namespace sluice;

namespace {

/// Compute takes 2 s, then comes the update that the next step's compute waits for; a copy out runs
/// at the same time.
StepProgram chain() {
    StepProgram program;
    program.operations = {
        made_operation(OperationKind::forward, Work::compute, {{2, true}}),
        made_operation(OperationKind::copy_gradients_out, Work::device_to_host, {{0, false}}),
        made_operation(OperationKind::update, Work::optimizer, {{0, false}})};
    return program;
}

RunComparison run_of(std::vector<OperationInterval> measured, Seconds measured_step,
                     std::vector<OperationInterval> predicted, Seconds predicted_step) {
    RunComparison c;
    c.run.name = "run";
    c.run.step = measured_step;
    c.predicted.step.seconds = predicted_step;
    c.predicted.asked.layers = 1;
    c.predicted.plan.program = chain();
    c.predicted.step.intervals = std::move(predicted);
    c.measured = c.predicted;
    c.measured->step.seconds = measured_step;
    c.measured->step.intervals = std::move(measured);
    return c;
}

}  // namespace

TEST_CASE("operation errors: on the critical path all of an error counts, elsewhere none",
          "[validate]") {
    // Measured 2 + 8 s, predicted 3 + 5; the copy is wrong by 4 s, but nothing waits for it.
    const std::vector<Seconds> explained =
        explained_seconds(chain(), {{0, 2}, {2, 7}, {2, 10}}, 10, {{0, 3}, {3, 4}, {3, 8}}, 8);
    CHECK(explained[0] == Approx(1));
    CHECK(explained[1] == Approx(0).margin(1e-12));
    CHECK(explained[2] == Approx(-3));
}

TEST_CASE("operation errors: what is on the path only as predicted counts half", "[validate]") {
    // The next compute waits for both. Measured, the copy out is the longer; predicted, the update.
    StepProgram program = chain();
    program.operations[0].waits_for.push_back({1, true});
    const std::vector<Seconds> explained =
        explained_seconds(program, {{0, 2}, {2, 10}, {2, 6}}, 10, {{0, 2}, {2, 4}, {2, 9}}, 9);
    CHECK(explained[1] == Approx((2 - 8) / 2.0));
    CHECK(explained[2] == Approx((7 - 4) / 2.0));
}

TEST_CASE("operation errors: sums by kind, means over runs, the rest is pauses", "[validate]") {
    // 10 s measured, of which 1 s is a pause before the update; 8 s predicted.
    const RunComparison pause = run_of({{0, 2}, {2, 7}, {3, 10}}, 10, {{0, 3}, {3, 4}, {3, 8}}, 8);
    const RunComparison exact = run_of({{0, 2}, {2, 3}, {2, 4}}, 4, {{0, 2}, {2, 3}, {2, 4}}, 4);
    RunComparison unknown = exact;
    unknown.measured.reset();
    const std::vector<RunComparison> runs = {pause, exact, unknown};
    const OperationErrors errors = operation_errors(runs, 2);
    CHECK(errors.runs == 2);
    CHECK(errors.step_error == Approx(-0.1));  // mean of -20% and 0
    REQUIRE(errors.kinds.size() == 3);
    const KindError& update = errors.kinds[2];
    CHECK(update.lane.work == Work::optimizer);
    CHECK(update.operations == 2);
    CHECK(update.measured == Approx(7 + 2));
    CHECK(update.predicted == Approx(5 + 2));
    CHECK(update.explained == Approx((-2.0 / 10 + 0) / 2));
    CHECK(update.explained_absolute == Approx(0.1));
    CHECK(errors.kinds[0].explained == Approx((1.0 / 10 + 0) / 2));  // forward
    CHECK(errors.unexplained == Approx((-1.0 / 10 + 0) / 2));        // the pause of 1 s
    REQUIRE(errors.worst.size() == 2);
    CHECK(operation_label(errors.worst[0]) == "gradients out 0");  // 5 s, predicted 1
    CHECK(errors.worst[0].run == &runs[0]);
    CHECK(errors.worst[0].explained_share() == 0);  // nothing waits for it
    CHECK(errors.worst[1].explained_share() == Approx(-2.0 / 10));
    CHECK(operation_label(errors.worst[1]) == "update 0");
    const std::string text = operation_errors_text(errors);
    CHECK_THAT(text, ContainsSubstring("pauses between"));
    CHECK_THAT(text, ContainsSubstring("gradients out 0"));
    CHECK_THAT(text.substr(text.find("update 0")), ContainsSubstring("-20.0%"));
    CHECK(operation_errors_json(errors)["worst"][1]["explained_share_of_step"].get<double>() ==
          Approx(-0.2));
}

TEST_CASE("operation errors: without operations there is nothing to say", "[validate]") {
    RunComparison unknown = run_of({{0, 1}, {1, 2}, {1, 2}}, 2, {{0, 1}, {1, 2}, {1, 2}}, 2);
    unknown.measured.reset();
    const OperationErrors errors = operation_errors({&unknown, 1}, 12);
    CHECK(errors.runs == 0);
    CHECK_THAT(operation_errors_text(errors), ContainsSubstring("no run has operations"));
}

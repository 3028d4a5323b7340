// The phases of a step, by hand.
#include "sim/answers/validate/compare_run.h"
#include "tests/catch.h"
#include "tests/sim/report/one_layer_report.h"

using namespace sluice;

TEST_CASE("phases: streamed, from the first operation of each kind to the next", "[validate]") {
    TimedPlan report;
    report.step.seconds = 10;
    report.plan.program.operations = {made_operation(OperationKind::forward, Work::compute, {}),
                                      made_operation(OperationKind::loss, Work::compute, {}),
                                      made_operation(OperationKind::backward, Work::compute, {}),
                                      made_operation(OperationKind::backward, Work::compute, {}),
                                      made_operation(OperationKind::update, Work::optimizer, {})};
    report.step.intervals = {{0, 2}, {3, 4}, {4.5, 5}, {6, 8}, {8, 10}};
    CHECK(step_phases(report) == std::vector<Seconds>{3, 1.5, 3.5, 2});
    CHECK(phase_names(Schedule("streamed")).size() == 4);
}

TEST_CASE("phases: MegaTrain's, the upload counts to the copy to pinned memory", "[validate]") {
    TimedPlan report;
    report.step.seconds = 9;
    report.asked.training.schedule = Schedule("megatrain");
    report.plan.program.operations = {
        made_operation(OperationKind::forward, Work::compute, {}),
        made_operation(OperationKind::clip_gradients, Work::optimizer, {}),
        made_operation(OperationKind::update, Work::optimizer, {}),
        made_operation(OperationKind::copy_to_pinned, Work::optimizer, {}),
        made_operation(OperationKind::copy_weights_in, Work::host_to_device, {}),
        made_operation(OperationKind::zero_gradients, Work::optimizer, {})};
    report.step.intervals = {{0, 3}, {4, 5}, {5, 6.5}, {6.5, 7}, {7, 8}, {8, 9}};
    CHECK(step_phases(report) == std::vector<Seconds>{4, 1, 1.5, 1.5, 1});
    CHECK(phase_names(Schedule("megatrain")).size() == 5);
}

TEST_CASE(
    "phases: of plain PyTorch loops, from the first copy to the loss's backward, clipping, end",
    "[validate]") {
    for (const Schedule schedule : {Schedule("fsdp-offload"), Schedule("resident")}) {
        TimedPlan report;
        report.step.seconds = 9;
        report.asked.training.schedule = schedule;
        report.plan.program.operations = {
            made_operation(OperationKind::copy_weights_in, Work::host_to_device, {}),
            made_operation(OperationKind::forward, Work::compute, {}),
            made_operation(OperationKind::loss, Work::compute, {}),
            made_operation(OperationKind::backward, Work::compute, {}),
            made_operation(OperationKind::copy_gradients_out, Work::device_to_host, {}),
            made_operation(OperationKind::clip_gradients, Work::optimizer, {}),
            made_operation(OperationKind::update, Work::optimizer, {})};
        report.step.intervals = {{-1, 0}, {0, 1}, {1, 2}, {2, 4}, {4, 5}, {5, 6}, {6, 8}};
        CHECK(step_phases(report) == std::vector<Seconds>{3, 3, 3});
        CHECK(phase_names(schedule) ==
              std::vector<std::string>{"forward", "backward", "optimizer_step"});
    }
}

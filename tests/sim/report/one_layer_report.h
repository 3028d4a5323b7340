// Which steady step do the tests of pictures and traces draw?
#pragma once

#include "sim/answers/predict/prediction.h"

namespace sluice {

inline Operation made_operation(OperationKind kind, Lane lane, Dependencies waits,
                                double link_bytes = 0) {
    Operation operation;
    operation.kind = kind;
    operation.lane = lane;
    operation.waits_for = std::move(waits);
    operation.link_bytes = link_bytes;
    return operation;
}

/// One layer on three lanes, 1 s a step. The lane to the GPU works ahead of the step, the optimizer
/// beyond its end:
///
///              -0.2   0     0.25  0.3       0.8    1.0   1.3
///   to GPU      |w 0  |                      (w 0 of the next step)
///   compute           |f 0  | waits |b 0     | waits
///   optimizer                                |u 0          |
///
/// Weights (10 GB) wait for backward of the step before, backward for the update of the step
/// before.
inline Prediction one_layer_report() {
    Prediction report;
    report.asked.model_name = "tiny";
    report.asked.machine_name = "box";
    report.asked.layers = 1;
    report.asked.training.batch = 4;
    report.asked.training.sequence = 1000;
    report.step.seconds = 1;
    report.plan.program.operations = {
        made_operation(OperationKind::copy_weights_in, Work::host_to_device, {{2, true}}, 10e9),
        made_operation(OperationKind::forward, Work::compute, {{0, false}}),
        made_operation(OperationKind::backward, Work::compute, {{3, true}}),
        made_operation(OperationKind::update, Work::optimizer, {{2, false}})};
    report.step.intervals = {{-0.2, 0}, {0, 0.25}, {0.3, 0.8}, {0.8, 1.3}};
    report.step.lanes = lane_times(report.plan.program, report.step.intervals, report.step.seconds);
    return report;
}

}  // namespace sluice

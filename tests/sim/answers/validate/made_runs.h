// Which measured runs do the tests of validation read and compare?
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/answers/predict/predict.h"
#include "sim/answers/validate/compare_run.h"
#include "sim/plan/schedules/streamed.h"
#include "sim/report/report.h"
#include "sim/specs/model/read_model.h"
#include "tests/sim/base/program_run.h"
#include "tests/sim/specs/machine/small_profile.h"

namespace sluice {

inline constexpr const char* kTinyModel =
    "dense:layers=3,hidden=256,heads=4,kv_heads=2,head_dim=64,vocabulary=512";

inline MachineSpec small_machine() { return resolve(small_profile()); }

inline TrainingSpec small_training() {
    TrainingSpec training;
    training.batch = 4;
    training.sequence = 128;
    return training;
}

/// A step as the trainer runs it, whose updates ahead take no time where all updates wait.
inline TimedPlan exact_step(const TrainingSpec& training, ClippedStep kind) {
    const ModelSpec model = read_model(kTinyModel);
    const MachineSpec machine = small_machine();
    StepPlan executed = plan_streamed(model, machine, training, ClippedStep::ahead).step;
    if (kind == ClippedStep::ahead)
        return predict(planned_step(std::move(executed), machine, training), model, machine,
                       training);
    TimedPlan out = predict(model, machine, training);
    std::vector<OperationInterval> intervals;
    auto waited = out.step.intervals.begin();
    for (const Operation& operation : executed.program.operations)
        intervals.push_back(operation.kind == OperationKind::update_ahead ? OperationInterval()
                                                                          : *waited++);
    out.step = step_of(executed.program, std::move(intervals), out.step.seconds);
    out.plan.program = std::move(executed.program);
    return out;
}

/// The report that the trainer would write of a step that runs exactly as predicted.
inline nlohmann::json exact_report(const TrainingSpec& training = small_training(),
                                   ClippedStep kind = ClippedStep::waits) {
    TimedPlan report = exact_step(training, kind);
    report.step.measured = {report.plan.fit.device().peak.bytes,
                            report.plan.memory.host_between_steps,
                            0,
                            report.step.seconds,
                            report.step.seconds,
                            Precision::bf16,
                            0,
                            kind == ClippedStep::ahead};
    return nlohmann::json::parse(report_json(report));
}

inline MeasuredRun read_one(const nlohmann::json& report,
                            const std::optional<std::string>& model = {}) {
    const test::TemporaryFolder folder;
    return read_measured_runs({folder.write("look/run.json", report.dump())}, model).runs.at(0);
}

/// A run of which only speeds matter.
inline RunComparison made_run(const std::string& name, const std::string& group, Seconds measured,
                              Seconds predicted) {
    RunComparison c;
    c.run.name = name;
    c.run.group = group;
    c.run.step = measured;
    c.predicted.step.seconds = predicted;
    return c;
}

}  // namespace sluice

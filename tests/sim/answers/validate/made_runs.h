// Which measured runs do the tests of validation read and compare?
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sim/answers/predict/predict.h"
#include "sim/answers/validate/compare_run.h"
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

/// The report that the trainer would write of a step that runs exactly as predicted.
inline nlohmann::json exact_report(const TrainingSpec& training = small_training()) {
    TimedPlan report = predict(read_model(kTinyModel), small_machine(), training);
    report.step.measured = {report.plan.fit.device.peak.bytes,
                            report.plan.memory.host_between_steps, 0, report.step.seconds,
                            report.step.seconds};
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

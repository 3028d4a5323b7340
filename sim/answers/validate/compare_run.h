// How far is the prediction of a run from the measurement?
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "sim/answers/predict/prediction.h"
#include "sim/answers/validate/measured_runs.h"
#include "sim/plan/step.h"

namespace sluice {

struct PhaseComparison {
    std::string name;
    Seconds measured = 0, predicted = 0;
};

/// Predicted over measured, less 1; empty without a measurement.
inline std::optional<double> bytes_error(Bytes predicted, Bytes measured) {
    if (measured <= 0) return std::nullopt;
    return static_cast<double>(predicted) / static_cast<double>(measured) - 1;
}

struct RunComparison {
    MeasuredRun run;
    Prediction predicted;
    /// The plan of `predicted` with the measured times; null if the file has no operations.
    std::optional<TimedPlan> measured;
    Bytes predicted_device = 0;  ///< the prediction of run.device
    Bytes predicted_host = 0;    ///< the prediction of run.host
    std::vector<PhaseComparison> phases;

    // Predicted over measured, less 1.
    double step_error() const { return predicted.step.seconds / run.step - 1; }
    double throughput_error() const { return run.step / predicted.step.seconds - 1; }
    std::optional<double> device_error() const { return bytes_error(predicted_device, run.device); }
    std::optional<double> host_error() const { return bytes_error(predicted_host, run.host); }
    /// How many processes' steps are within the predicted 5 to 95% band; empty if there is no band.
    std::optional<int> steps_in_band() const {
        if (!predicted.band) return std::nullopt;
        const auto inside = [&](Seconds step) {
            return step >= predicted.band->low && step <= predicted.band->high;
        };
        if (run.processes.empty()) return inside(run.step) ? 1 : 0;
        return static_cast<int>(
            std::count_if(run.processes.begin(), run.processes.end(),
                          [&](const MeasuredProcess& process) { return inside(process.step); }));
    }
    /// Whether all of them are.
    std::optional<bool> in_band() const {
        const auto inside = steps_in_band();
        if (!inside) return std::nullopt;
        return *inside == run.process_count();
    }
};

/// Throws InputError if the run's operations are not those of its plan, or its settings are not
/// valid for the machine; the message names the file.
RunComparison compare_run(MeasuredRun run, const MachineSpec& machine);

// Which consecutive phases does a step have?

/// The names of step_phases(), as keys.
std::vector<std::string> phase_names(Schedule schedule);

/// Seconds of each of the schedule's phases. Their sum is the step, except for pauses that
/// MegaTrain leaves between its phases. Precondition: the report has operations.
std::vector<Seconds> step_phases(const TimedPlan& report);

}  // namespace sluice

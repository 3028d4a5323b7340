// What was measured: a run of the trainer or of another system, and the settings it had.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "sim/answers/predict/prediction.h"
#include "sim/base/json_object.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// A row of the report's operations.
struct MeasuredOperation {
    std::string label;  ///< "backward 12"
    std::string lane;
    std::int64_t micro_batch = 0;
    OperationInterval interval;
};

struct MeasuredPhase {
    std::string name;
    Seconds seconds = 0;
};

/// One of several that ran the same configuration.
struct MeasuredProcess {
    std::string file;
    Seconds step = 0;  ///< median
};

struct MeasuredRun {
    /// The file's name without .json; of another system its schedule, model and batch.
    std::string name;
    std::string group;  ///< the folder's name; of another system its name
    std::string file;
    std::string row;           ///< of a table: "rows[3]"; empty: the file is the run
    std::string machine_name;  ///< as the machine said of itself; empty: not known
    ModelSpec model;
    TrainingSpec training;
    Seconds step = 0;  ///< median; of several processes the mean of their medians
    Seconds step_low = 0, step_high = 0;  ///< 5% and 95% of the steps took less; 0: not known
    int steps = 0;                        ///< that `step` is the median of; 0: not known
    Precision precision = Precision::bf16;
    Bytes device = 0;  ///< most in use in a step, less the CUDA context; 0: not measured
    Bytes host = 0;    ///< most resident over the steps; 0: not measured
    bool host_between_steps = false;  ///< `host` is what was resident when a step had ended
    bool unified_memory = false;      ///< ran on the CPU: device memory is host memory
    std::vector<MeasuredOperation> operations;  ///< in the plan's order; empty: not in the file
    std::vector<MeasuredPhase> phases;          ///< only of other systems
    /// Those that `step` is the mean of, in the order read; empty: one, which is `file`.
    std::vector<MeasuredProcess> processes;

    int process_count() const { return std::max(1, static_cast<int>(processes.size())); }
    /// The worst distance of a process's step from their mean, as a share of it; none of one.
    std::optional<double> process_spread() const {
        if (processes.empty()) return std::nullopt;
        double worst = 0;
        for (const MeasuredProcess& process : processes)
            worst = std::max(worst, std::abs(process.step / step - 1));
        return worst;
    }
    double tokens_per_s() const { return static_cast<double>(training.tokens()) / step; }
};

struct MeasuredRuns {
    std::vector<MeasuredRun> runs;
    std::vector<std::string> left_out;  ///< what was not taken and why, a sentence each
};

/// Reads reports of `sluice-train --report`, tables of other systems' rows, and folders of them,
/// in the order given, a folder's files sorted, each file once. `model` is read in place of a model
/// name that says nothing here. Throws InputError; so it does where no run is left.
MeasuredRuns read_measured_runs(const std::vector<std::string>& paths,
                                const std::optional<std::string>& model);

// Which kinds of files hold measured runs, and how is each read?

/// The report of a measured step. `text` is the text of `root`. Throws InputError.
MeasuredRun read_run_report(const JsonObject& root, std::string_view text,
                            const std::optional<std::string>& model);

/// A table of other systems' steps ("rows"). Those of a system that has no schedule here are left
/// out. Throws InputError.
void read_system_rows(const JsonObject& root, MeasuredRuns& out);

/// A field of memory in bytes; 0 where it is missing.
Bytes gigabytes(const JsonObject& values, std::string_view key);

// Larger numbers, or a shorter step, are mistakes in a file.
inline constexpr Seconds kShortestStep = 1e-6;
inline constexpr Seconds kMostSeconds = 86'400;  // a day
inline constexpr std::int64_t kMostSteps = 1'000'000'000;
inline constexpr std::int64_t kMostBytes = 1'000'000'000'000'000;
inline constexpr std::int64_t kMostLayers = 10'000;

// Which runs repeat one configuration? Which only share a name?

/// Runs of one name, group, known machine, model and training, of several processes, become one
/// where the first stood: its step is the mean of theirs, its operations and phases are the means
/// of the times, `step_low` the least and `step_high` the largest, device and host memory the
/// larger, steps the sum. distinct_tokens, which is of the text and not a setting, is the first's.
std::vector<MeasuredRun> join_repeated_runs(std::vector<MeasuredRun> runs);

/// Names that several runs of a group have get, in brackets, what tells them apart: the machine,
/// else the row of the table, else the file.
void tell_apart(std::vector<MeasuredRun>& runs);

}  // namespace sluice

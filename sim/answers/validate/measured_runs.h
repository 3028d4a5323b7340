// Which run was measured: one of the trainer or of another system, with its settings?
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

/// One of several processes that ran the same configuration.
struct MeasuredProcess {
    std::string file;
    Seconds step = 0;  ///< median
};

struct MeasuredRun {
    /// The file's name without .json; for another system its schedule, model and batch.
    std::string name;
    std::string group;  ///< the folder's name; for another system its name
    std::string file;
    std::string row;           ///< row of a table: "rows[3]"; empty: the file is the run
    std::string machine_name;  ///< as the machine describes itself; empty: not known
    ModelSpec model;
    TrainingSpec training;
    Seconds step = 0;  ///< median; of several processes the mean of their medians
    Seconds step_low = 0, step_high = 0;  ///< 5% and 95% of the steps took less; 0: not known
    int steps = 0;                        ///< number of steps behind `step`; 0: not known
    Precision activations = Precision::bf16;
    bool updates_ahead = false;  ///< with --clipping auto: updates began before the norm was known
    Bytes device = 0;            ///< largest use in a step, less the CUDA context; 0: not measured
    Bytes host = 0;              ///< largest resident memory over the steps; 0: not measured
    bool host_between_steps = false;            ///< `host` is the resident memory after a step
    bool unified_memory = false;                ///< ran on the CPU: device memory is host memory
    std::vector<MeasuredOperation> operations;  ///< in the plan's order; empty: not in the file
    std::vector<MeasuredPhase> phases;          ///< other systems only
    /// The processes whose mean is `step`, in the order of reading; empty: one, which is `file`.
    std::vector<MeasuredProcess> processes;

    int process_count() const { return std::max(1, static_cast<int>(processes.size())); }
    /// The largest distance of a process's step from their mean, as a share of it; empty for one
    /// process.
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
    std::vector<std::string> left_out;  ///< one sentence for each file or row that was left out
};

/// Reads reports of `sluice-train --report`, tables of other systems' rows, and folders of them,
/// each file once: in the given order, and sorted within a folder. `model` replaces a model name
/// that is not known here. Throws InputError, also if no run is left.
MeasuredRuns read_measured_runs(const std::vector<std::string>& paths,
                                const std::optional<std::string>& model);

// Which kinds of files hold measured runs, and how is each read?

/// The report of a measured step. Throws InputError.
MeasuredRun read_run_report(const JsonObject& root, const std::optional<std::string>& model);

/// A table of other systems' steps ("rows"). Leaves out systems without a schedule here. Throws
/// InputError.
void read_system_rows(const JsonObject& root, MeasuredRuns& out);

/// A memory field in bytes; 0 if it is missing.
Bytes gigabytes(const JsonObject& values, std::string_view key);

// A larger number or a shorter step is a mistake in the file.
inline constexpr Seconds kShortestStep = 1e-6;
inline constexpr Seconds kMostSeconds = 86'400;  // a day
inline constexpr std::int64_t kMostSteps = 1'000'000'000;
inline constexpr std::int64_t kMostBytes = 1'000'000'000'000'000;

// Which runs repeat one configuration, and which only share a name?

/// Joins runs with the same name, group, known machine, model and training, measured by several
/// processes, into the first of them. Its step is the mean of theirs, its operations and phases are
/// means, `step_low` is the least and `step_high` the largest. Device and host memory are the
/// largest, numbers of steps are added. distinct_tokens, which depends on the text and is no
/// setting, is the first's.
std::vector<MeasuredRun> join_repeated_runs(std::vector<MeasuredRun> runs);

/// Adds to equal names of runs in a group what distinguishes them, in brackets: the machine, else
/// the row of the table, else the file.
void tell_apart(std::vector<MeasuredRun>& runs);

}  // namespace sluice

// How good are the predictions for a machine, over all runs that were measured on it?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answers/validate/compare_run.h"
#include "sim/base/units.h"

namespace sluice {

/// Predicted over measured, less 1, over several runs.
struct ErrorSummary {
    int count = 0;
    double mean_absolute = 0;
    double worst = 0;  ///< of largest size, with its sign
    std::string worst_name;
};

/// Counts `error`, if there is one, in the summary.
void add_error(ErrorSummary& summary, std::optional<double> error, const std::string& name);

/// Errors of tokens/s of the runs that one lane limits, as predicted.
struct BoundSummary {
    std::string bound;  ///< bottleneck_name() of the prediction
    ErrorSummary throughput;
};

struct GroupSummary {
    std::string group;  ///< empty: all runs
    int runs = 0;
    ErrorSummary throughput, device, host;
    std::vector<BoundSummary> bounds;  ///< in the order of the runs
    std::optional<double> tau_b;       ///< of tokens/s, predicted against measured
    int processes = 0;                 ///< of these runs: more, where some repeat one configuration
    int with_band = 0;                 ///< processes' steps whose prediction has a 5-95% band
    int in_band = 0;                   ///< of these, how many were measured within it
};

/// Distances of processes' steps from the mean of their configuration, as shares of it: without
/// sign, of all configurations that several processes ran.
struct ProcessSpread {
    int configurations = 0, processes = 0;
    double mean = 0, worst = 0;
    std::string worst_name;  ///< of the run
};

struct Validation {
    std::string machine_id;
    std::vector<std::string> machine_changes;
    std::vector<RunComparison> runs;
    std::vector<GroupSummary> summaries;  ///< of groups, where there are several, then of all
    /// Runs of a machine of another kind than the profile's, a sentence a file.
    std::vector<std::string> other_machines;
    std::vector<std::string> left_out;
};

/// Runs that repeat one configuration are one. Precondition: `measured` has a run. Throws
/// InputError as compare_run() does.
Validation validate(MeasuredRuns measured, const MachineSpec& machine);

/// None where no configuration was run by several processes. No prediction, which is one step for
/// all of them, can be nearer to single processes.
std::optional<ProcessSpread> process_spread(const std::vector<RunComparison>& runs);

/// The groups, in the order of the runs.
std::vector<std::string> group_names(const std::vector<RunComparison>& runs);

/// One a group in the order of the runs where there are several groups, then one over all.
std::vector<GroupSummary> summarize(const std::vector<RunComparison>& runs);

// Are the errors of a validation within what is allowed?

/// Largest sizes of errors, as fractions; none: any.
struct Limits {
    std::optional<double> throughput;       ///< of each run's tokens/s
    std::optional<double> mean_throughput;  ///< of tokens/s, the mean over all runs
    std::optional<double> memory;           ///< of each run's device and host memory
};

/// A sentence for each limit that is exceeded, with the runs that exceed it.
std::vector<std::string> beyond_limits(const Validation& validation, const Limits& limits);

// Which machine does a name mean? Trainer and calibration use the same names.

/// Of "NVIDIA H200, 16 CPUs of Intel(R) Xeon(R) Processor, 135.1 GB".
struct MachineParts {
    std::string gpu;  ///< "no GPU" without one
    double cpus = 0;
    std::string cpu;         ///< empty: not known
    double host_memory = 0;  ///< bytes
};

/// None where the name has not that form, as of profiles that were put together.
std::optional<MachineParts> machine_parts(const std::string& name);

/// GPU, CPUs and, but for rounding and what a system keeps to itself, host memory are the same.
bool same_kind(const MachineParts& a, const MachineParts& b);

// Does the prediction order runs as the measurement does, and does it choose the right setting?

/// Kendall's tau-b of two lists of equal length: 1 for the same order, -1 for the reverse order;
/// ties count for neither. None where one of the lists is all ties, or shorter than two.
std::optional<double> kendall_tau_b(const std::vector<double>& a, const std::vector<double>& b);

/// Runs that differ in one training option and nothing else; their groups may differ.
struct OptionSet {
    std::string option;
    std::vector<const RunComparison*> runs;  ///< by the option's value; at least two
    const RunComparison* measured_best = nullptr;
    const RunComparison* predicted_best = nullptr;  ///< whom the prediction would choose
    /// Measured throughput that this choice loses: 1 - (its tokens/s) / (the best tokens/s).
    double loss() const {
        return 1 - predicted_best->run.tokens_per_s() / measured_best->run.tokens_per_s();
    }
};

/// All such sets, by option in the order of training_options(). Pointers into `runs`.
std::vector<OptionSet> option_sets(const std::vector<RunComparison>& runs);

}  // namespace sluice

// How good are the predictions for a machine, over all measured runs?
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
    double worst = 0;  ///< the error with the largest absolute value, with its sign
    std::string worst_name;
};

/// Counts `error`, if there is one, in the summary.
void add_error(ErrorSummary& summary, std::optional<double> error, const std::string& name);

/// Errors of tokens/s of the runs with the same predicted limit.
struct BoundSummary {
    std::string bound;  ///< bottleneck_name() of the prediction
    ErrorSummary throughput;
};

struct GroupSummary {
    std::string group;  ///< empty: all runs
    int runs = 0;
    ErrorSummary throughput, device, host;
    std::vector<BoundSummary> bounds;  ///< in the order of the runs
    std::optional<double> tau_b;       ///< of tokens/s, predicted and measured
    int processes = 0;  ///< measured processes; more than runs if some repeat one configuration
    int with_band = 0;  ///< processes' steps whose prediction has a 5 to 95% band
    int in_band = 0;    ///< how many of them are within it
};

/// Distances of processes' steps from the mean of their configuration, as absolute shares, over all
/// configurations with several processes.
struct ProcessSpread {
    int configurations = 0, processes = 0;
    double mean = 0, worst = 0;
    std::string worst_name;  ///< of the run
};

struct Validation {
    std::string machine_id;
    std::vector<std::string> machine_changes;
    std::vector<RunComparison> runs;
    std::vector<GroupSummary> summaries;  ///< one per group if there are several, then all
    /// One sentence per file for runs of another kind of machine than the profile's.
    std::vector<std::string> other_machines;
    std::vector<std::string> left_out;
};

/// Joins runs that repeat one configuration. Precondition: `measured` has a run. Throws InputError
/// like compare_run().
Validation validate(MeasuredRuns measured, const MachineSpec& machine);

/// Empty if no configuration was run by several processes. No prediction can be nearer to single
/// processes, since it is one step for all of them.
std::optional<ProcessSpread> process_spread(const std::vector<RunComparison>& runs);

/// The groups, in the order of the runs.
std::vector<std::string> group_names(const std::vector<RunComparison>& runs);

/// One per group if there are several, in the order of the runs, then one over all.
std::vector<GroupSummary> summarize(const std::vector<RunComparison>& runs);

// Are the errors of a validation within the given limits?

/// Largest absolute errors, as shares; empty: no limit.
struct Limits {
    std::optional<double> throughput;       ///< of each run's tokens/s
    std::optional<double> mean_throughput;  ///< of tokens/s, the mean over all runs
    std::optional<double> memory;           ///< of each run's device and host memory
};

/// One sentence for each exceeded limit, with the runs that exceed it.
std::vector<std::string> beyond_limits(const Validation& validation, const Limits& limits);

// Which machine does a name describe? Trainer and calibration write the same names.

/// The parts of "NVIDIA H200, 16 CPUs of Intel(R) Xeon(R) Processor, 135.1 GB".
struct MachineParts {
    std::string gpu;  ///< "no GPU" without one
    double cpus = 0;
    std::string cpu;         ///< empty: not known
    double host_memory = 0;  ///< bytes
};

/// Empty if the name has another form, as in profiles made by hand.
std::optional<MachineParts> machine_parts(const std::string& name);

/// Whether GPU, CPUs and host memory are the same; sizes may differ by rounding and by what the
/// system reserves.
bool same_kind(const MachineParts& a, const MachineParts& b);

// Do predictions order the runs as measurements do, and do they choose the right setting?

/// Kendall's tau-b of two lists of equal length: 1 for the same order, -1 for the reverse order;
/// ties count for neither. Empty if one list has only ties, or fewer than two elements.
std::optional<double> kendall_tau_b(const std::vector<double>& a, const std::vector<double>& b);

/// Runs that differ in one training option and nothing else; their groups may differ.
struct OptionSet {
    std::string option;
    std::vector<const RunComparison*> runs;  ///< by the option's value; at least two
    const RunComparison* measured_best = nullptr;
    const RunComparison* predicted_best = nullptr;  ///< the run that the prediction would choose
    /// Measured throughput that this choice loses: 1 - (its tokens/s) / (the best tokens/s).
    double loss() const {
        return 1 - predicted_best->run.tokens_per_s() / measured_best->run.tokens_per_s();
    }
};

/// All such sets, by option in the order of training_options(). Holds pointers into `runs`.
std::vector<OptionSet> option_sets(const std::vector<RunComparison>& runs);

}  // namespace sluice

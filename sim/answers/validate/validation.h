// How good are the predictions for a machine, over all runs that were measured on it?
#pragma once

#include "sim/answers/validate/compare_run.h"
#include "sim/answers/validate/ranking.h"

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

}  // namespace sluice

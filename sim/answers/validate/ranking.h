// Does the prediction order runs as the measurement does, and does it choose the right setting?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answers/validate/compare_run.h"

namespace sluice {

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

// Which operations make a prediction wrong?
#pragma once

#include <span>
#include <vector>

#include "sim/answers/validate/compare_run.h"

namespace sluice {

/// Seconds of the step's error (predicted - measured) that each operation explains, to first order:
/// the error of its duration times its share on the critical path (mean of the measured and the
/// predicted one). Pauses between operations explain the rest. In the program's order;
/// precondition: both lists have one interval per operation.
std::vector<Seconds> explained_seconds(const StepProgram& program,
                                       const std::vector<OperationInterval>& measured,
                                       Seconds measured_step,
                                       const std::vector<OperationInterval>& predicted,
                                       Seconds predicted_step);

/// All operations of a kind on one lane, in one run or several.
struct KindError {
    Lane lane;
    OperationKind kind = OperationKind::forward;
    int operations = 0;
    Seconds measured = 0, predicted = 0;  ///< durations, summed
    double explained = 0;           ///< seconds explained over the measured step, mean of the runs
    double explained_absolute = 0;  ///< mean of its absolute value
};

struct OperationError {
    const RunComparison* run = nullptr;
    std::size_t operation = 0;  ///< index in the program
    Seconds measured = 0, predicted = 0, explained = 0;
    double explained_share() const { return explained / run->run.step; }
};

struct OperationErrors {
    int runs = 0;                     ///< runs with operations; others are ignored
    double step_error = 0;            ///< (predicted - measured) / measured step, mean of the runs
    double unexplained = 0;           ///< the part that operations do not explain
    double unexplained_absolute = 0;  ///< mean of its absolute value
    std::vector<KindError> kinds;     ///< by lane, in the order of the plan
    std::vector<OperationError> worst;  ///< by |predicted - measured|, the largest first
};

/// `worst`: how many single operations are listed. Holds pointers into `runs`.
OperationErrors operation_errors(std::span<const RunComparison> runs, std::size_t worst);

/// "backward 12" in a run's program.
std::string operation_label(const OperationError& error);

}  // namespace sluice

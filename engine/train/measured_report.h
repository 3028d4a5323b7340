// The report of a measured step: the same type and the same files as of a predicted one.
#pragma once

#include <vector>

#include "sim/report/step_report.h"

namespace sluice {

/// Collects steady steps, and how long each took until the next began. Only the later half counts:
/// a GPU that was idle before the first step runs above its sustained clock for a while.
class MeasuredSteps {
  public:
    /// `intervals` of one step on any clock, in seconds.
    void add(const StepProgram& program, std::vector<OperationInterval> intervals);
    /// What comes next does not follow at once on the last step added.
    void pause() { paused_ = true; }
    bool empty() const { return durations().empty(); }
    /// Median of the time from step to step.
    Seconds step_seconds() const;
    /// 5% and 95% of the steps took less.
    std::pair<Seconds, Seconds> spread() const;
    /// The step nearest the median, relative to the start of its first compute operation.
    const std::vector<OperationInterval>& typical() const;

  private:
    struct Step {
        Seconds start = 0;     ///< of the first compute operation
        bool follows = false;  ///< at once on the step before it here
        std::vector<OperationInterval> intervals;
    };
    std::vector<Seconds> durations() const;
    /// Steps that follow at once on the one before them, the later half.
    std::vector<std::size_t> pairs() const;
    std::vector<Step> steps_;
    bool paused_ = true;
};

}  // namespace sluice

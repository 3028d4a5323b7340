// The report of a measured step: the same type and the same files as of a predicted one.
#pragma once

#include <vector>

#include "sim/report/step_report.h"

namespace sluice {

/// Collects steady steps; the first two are left out, since they build plans and touch caches.
class MeasuredSteps {
  public:
    /// `intervals` of one step on any clock, in seconds.
    void add(const StepProgram& program, std::vector<OperationInterval> intervals);
    bool empty() const { return steps_.size() < 2; }
    /// Median of the time from step to step.
    Seconds step_seconds() const;
    /// 5% and 95% of the steps took less.
    std::pair<Seconds, Seconds> spread() const;
    /// The step nearest the median, relative to the start of its first compute operation.
    const std::vector<OperationInterval>& typical() const;

  private:
    struct Step {
        Seconds start = 0;  ///< of the first compute operation
        std::vector<OperationInterval> intervals;
    };
    std::vector<Seconds> durations() const;
    std::vector<Step> steps_;
};

}  // namespace sluice

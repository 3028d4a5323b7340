// Is a step's loss or gradient norm far above those of the steps before?
#pragma once

#include <utility>
#include <vector>

#include "engine/run/streamed_step.h"
#include "engine/train/training_checkpoint.h"

namespace sluice {

/// A spike is a loss or norm that is more than so many standard deviations above the mean of the
/// last 128 steps, as in OLMo-core's SkipStepOptimizer. Skipped steps count, too: a loss that stays
/// high is skipped for a while and then accepted.
class SpikeWatch {
  public:
    explicit SpikeWatch(double deviations) : deviations_(deviations) {}

    /// The limits of the next step; infinite until 64 steps are known.
    StepLimits limits() const;
    /// Takes each step in turn; steps that are not finite or without targets do not count.
    void add(RecentStep step);

    const std::vector<RecentStep>& recent() const { return recent_; }
    void continue_from(std::vector<RecentStep> recent) { recent_ = std::move(recent); }

  private:
    double limit(double RecentStep::*number) const;

    double deviations_;
    std::vector<RecentStep> recent_;  ///< the oldest first
};

}  // namespace sluice

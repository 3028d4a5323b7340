// Which operations have run in virtual time, what must the next ones wait for, and when has a run
// shown enough? Whatever moves the time.
#pragma once

#include <vector>

#include "sim/simulate/step_run.h"

namespace sluice {

/// Steps are counted from 0.
class LanesRecord {
  public:
    /// `work` must outlive it. See run_steps().
    LanesRecord(const std::vector<LaneOperation>& work, const MachineSpec& machine, Seconds worth);

    /// In the order in which the lane runs them.
    const std::vector<OperationId>& operations(Lane lane) const { return lanes_[lane].operations; }
    int devices() const { return static_cast<int>(power_.size()); }
    /// No lane runs this step, since the run is over before. A lane that is ahead stops there.
    bool over(int step) const {
        return step >= kMostSteps ||
               (finished_ && step >= static_cast<int>(run_.compute_ends.size()));
    }
    bool finished() const { return finished_; }
    bool ended_early() const { return run_.slower_than_worth > 0; }
    /// An operation that must end before it may begin; -1: none.
    OperationId missing(OperationId id, int step) const;
    /// Its demand if it begins now.
    FlowDemand begin(OperationId id, Seconds now);
    /// It ran.
    void end(OperationId id, int step, OperationInterval when);
    /// Throws InternalError if the lanes wait for each other.
    RunSteps take();

  private:
    static constexpr int kMostSteps = 24;
    struct LaneEnd {
        OperationId operation = 0;
        Seconds end = 0;
    };
    struct OfLane {
        std::vector<OperationId> operations;  ///< of a step, in their order
        LaneEnd last, at_last_end;  ///< what it has done last: now, and at the end of a step
    };
    /// The energy that a device may draw beyond its limit: now, and after the last step.
    struct PowerOfDevice {
        explicit PowerOfDevice(const ClockSpec& clock) : now(clock), left_j(clock.headroom_j) {}
        double used_j() const { return left_j - now.left_j(); }
        /// More than rounding.
        bool uses_up(double headroom_j) const { return used_j() > kSteady * headroom_j; }

        PowerBudget now;
        double left_j;
    };

    PowerBudget& power_of(Lane lane) { return power_[static_cast<std::size_t>(lane.device)].now; }
    void end_of_compute(Seconds now);
    void skip_alike_steps();
    Seconds last_step() const;
    bool steady() const;
    bool second_repeats_first() const;
    std::size_t done(OperationId id) const {
        return static_cast<std::size_t>(completed_[static_cast<std::size_t>(id)]);
    }

    const Seconds worth_;
    const std::vector<LaneOperation>& work_;
    std::vector<PowerOfDevice> power_;
    const double headroom_j_;
    ByLane<OfLane> lanes_;
    std::vector<int> completed_;  ///< how often each operation has been done
    RunSteps run_;
    OperationId last_compute_ = 0;
    bool finished_ = false;
};

}  // namespace sluice

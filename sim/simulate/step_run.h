// How do the lanes of a plan run in virtual time? Step after step, here with one SimGrid actor a
// lane (quick_run.h does it without).
#pragma once

#include <limits>
#include <vector>

#include "sim/plan/step.h"
#include "sim/plan/step_plan.h"
#include "sim/simulate/operation_cost.h"

namespace sluice {

/// The data of an operation that a simulation uses.
struct LaneOperation {
    Lane lane;
    Dependencies waits_for;
    FlowDemand demand;
};

/// In the program's order.
std::vector<LaneOperation> lane_operations(const StepProgram& program,
                                           const std::vector<FlowDemand>& demands);

/// Steps that ran; the last one only in part.
struct RunSteps {
    /// By step and operation, from the start of the run; {0, 0}: not run.
    std::vector<std::vector<OperationInterval>> intervals;
    /// By step and operation of the compute lane: the energy left beyond the power limit when it
    /// ended.
    std::vector<std::vector<double>> left_j;
    std::vector<Seconds> compute_ends;  ///< of every step's last compute operation; two or more
    bool steady = false;                ///< the last two steps are equal
    Seconds slower_than_worth = 0;      ///< the step that ended the run; 0: none did
};

inline constexpr double kSteady = 1e-9;  ///< relative difference of two times that counts as none

/// Runs until the step time is steady, or until the most steps have run, or after a step that took
/// longer than `worth`. See simulate_step().
RunSteps run_steps(const std::vector<LaneOperation>& work, const MachineSpec& machine,
                   const TrainingSpec& training,
                   Seconds worth = std::numeric_limits<Seconds>::infinity());

}  // namespace sluice

// How fast can a planned step be at best, without simulating it?
//
// `at_least` is below the steady step of simulate_step(), so that a search may drop what is slower
// even so than the best it has simulated. It is the largest of three bounds; each leaves out
// something that can only slow the step down:
//
// Path. An operation starts when those that it waits for and the one before it in its lane have
//   ended, and takes no less than alone. So from the last compute operation of one step to that of
//   the next, between which the step is measured, no less passes than on the longest path between
//   them, each operation counted as it takes alone.
//
// Resource. A steady step does each lane's work once, and moves the plan's bytes over device
// memory,
//   no faster than its capacity.
//
// Fluid. In a steady step each lane does all of its operations once, one at a time. At any moment a
//   certain set of lanes is at work, and each does at most the share of its rate that it keeps
//   beside them; so, if x_S is the time for which the set S is at work,
//
//     sum over S of share(lane, S) x_S  >=  what the lane's operations take alone,
//
//   whatever the order, and the step, the sum of x_S, is at least the least that these allow
//   (least_cost()). Where contention is not measured, lanes keep their rates, and bytes over the
//   link both ways and over host memory are such works too: in S they move no faster than its lanes
//   alone, nor than their capacity. Two things more hold for compute. From its last operation to
//   the first of the next step it rests for no less than the path between them. And with a power
//   limit, what its kernels draw beyond it has to be made up: at a lower clock, which takes at
//   least min(longer / saved) seconds a joule over the kernels, or at rest, which leaves limit -
//   idle watts. Up to the store of energy it need not be made up over the eleven steps or more that
//   an unsteady step is averaged over; a steady step leaves the store as it was.
//
// All three are taken kMargin lower, for the rounding of the simulation's clock and of this.
#pragma once

#include <vector>

#include "sim/plan/step_plan.h"
#include "sim/simulate/operation_cost.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {

inline constexpr double kMargin = 1e-6;  ///< relative

struct StepBounds {
    Seconds path = 0, resource = 0, fluid = 0;
    Seconds at_least() const;
};

/// `demands` are operation_demands() of the same program, machine and settings.
StepBounds step_bounds(const StepProgram& program, const std::vector<FlowDemand>& demands,
                       const MachineSpec& machine, const TrainingSpec& training);

/// Longest paths, in seconds from the end of a step's last compute operation.
struct StepPaths {
    Seconds to_first_compute = 0;  ///< to the start of the next step's first compute operation
    Seconds to_last_compute = 0;   ///< to the end of its last
};
StepPaths step_paths(const StepProgram& program, const std::vector<FlowDemand>& demands);

}  // namespace sluice

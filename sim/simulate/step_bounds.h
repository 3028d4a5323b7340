// How fast can a planned step be at best, without simulating it?
//
// `at_least` is no more than the steady step of simulate_step(). A search may therefore drop a
// scenario whose bound is slower than the best simulated step. The bound is the largest of three;
// each leaves out something that can only slow the step down:
//
// Path. An operation starts after its dependencies and the operation before it in its lane, and
//   takes at least its time alone. The step is measured from the last compute operation of one step
//   to the last one of the next. It therefore takes at least the longest path between them, with
//   each operation's time alone.
//
// Resource. A steady step does each lane's work once, and moves the plan's bytes over device memory
//   no faster than its capacity.
//
// Fluid. In a steady step each lane does all of its operations once, one at a time. At any moment
//   some set of lanes is active, and each runs at most at its share of its rate under contention
//   with them. If x_S is the time for which the set S is active, then in any order
//
//     sum over S of share(lane, S) x_S  >=  time of the lane's operations alone,
//
//   and the step, the sum of x_S, is at least the minimum under these constraints (least_cost()).
//   If contention is not measured, lanes keep their rates. Bytes over the link in both directions
//   and over host memory are then further kinds of work: in S they move no faster than the lanes of
//   S alone, and no faster than their capacity. Two more constraints hold for compute. From its
//   last operation to the first of the next step it rests at least for the path between them. With
//   a power limit, the energy that its kernels draw beyond the limit must be saved: at a lower
//   clock, which takes at least min(longer / saved) seconds per joule over the kernels, or at rest,
//   which saves limit - idle watts. An unsteady step is the mean of eleven steps or more, over
//   which the store of energy need not be filled again; a steady step leaves the store unchanged.
//
// All three are lowered by kMargin, for the rounding of the simulation's clock and of the bounds.
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

/// No step is faster whose compute lane does this work and possibly more, whatever else it moves.
Seconds compute_bound(const StepProgram& program, std::vector<FlowDemand> demands,
                      const MachineSpec& machine, const TrainingSpec& training);

/// Longest paths, in seconds from the end of a step's last compute operation.
struct StepPaths {
    Seconds to_first_compute = 0;  ///< to the start of the next step's first compute operation
    Seconds to_last_compute = 0;   ///< to the end of its last compute operation
};
StepPaths step_paths(const StepProgram& program, const std::vector<FlowDemand>& demands);

}  // namespace sluice

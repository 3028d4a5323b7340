// How long does the planned step take on the machine? Runs the plan's operations in virtual time.
#pragma once

#include <limits>
#include <vector>

#include "sim/plan/step.h"
#include "sim/plan/step_plan.h"
#include "sim/simulate/operation_cost.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {

struct SimulatedStep {
    /// Steady: from one step's last compute operation to the next step's.
    Seconds step = 0;
    /// From an idle machine to the end of the last update, with the work that only a first step
    /// has.
    Seconds first_step = 0;
    int steps = 0;        ///< simulated until one step repeated the previous one
    bool steady = false;  ///< two consecutive steps did; else `step` is the mean of the last half
    /// Intervals of the steady step, in the program's order; empty if the simulation ended early.
    std::vector<OperationInterval> operations;
    bool ended_early() const { return operations.empty(); }
};

/// Runs the plan with one SimGrid actor per lane for several steps, until the step time is steady.
/// The result is the same to the bit, whatever ran before. May be called from any thread;
/// simulations run one after another, see simulation_service.h. Throws Cancelled if the thread's
/// SimulationScope asks to stop.
///
/// Ends early after a step that takes longer than `worth`, and returns that step. The first ones
/// are the shortest: nothing is left of a step before them, and the GPU is rested. So this is a
/// lower estimate, for a search; a third of the time if it is the first.
SimulatedStep simulate_step(const StepPlan& plan, const MachineSpec& machine,
                            const TrainingSpec& training,
                            Seconds worth = std::numeric_limits<Seconds>::infinity());

/// The same without SimGrid, which takes a tenth of the time, on the calling thread: for searches.
/// Times differ by less than 1e-5 (300 random steps of all schedules).
SimulatedStep quick_step(const StepPlan& plan, const MachineSpec& machine,
                         const TrainingSpec& training);
/// `demands` are operation_demands() of the same program, machine and settings.
SimulatedStep quick_step(const StepProgram& program, const std::vector<FlowDemand>& demands,
                         const MachineSpec& machine, const TrainingSpec& training, Seconds worth);

}  // namespace sluice

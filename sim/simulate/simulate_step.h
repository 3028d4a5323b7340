// How long does the planned step take on the machine? Runs the plan's operations in virtual time.
#pragma once

#include <vector>

#include "sim/plan/step.h"
#include "sim/plan/step_plan.h"
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
    std::vector<OperationInterval> operations;  ///< of the steady step, in the program's order
};

/// Runs the plan with one SimGrid actor per lane for several steps, until the step time is steady.
/// The result is the same to the bit, whatever ran before. May be called from any thread;
/// simulations run one after another, see simulation_service.h. Throws Cancelled if the thread's
/// SimulationScope asks to stop.
SimulatedStep simulate_step(const StepPlan& plan, const MachineSpec& machine,
                            const TrainingSpec& training);

}  // namespace sluice

// How long does the planned step take on the machine? The plan's operations in virtual time.
#pragma once

#include <vector>

#include "sim/plan/step.h"
#include "sim/plan/step_plan.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {

struct SimulatedStep {
    /// Steady: from one step's last compute operation to the next's.
    Seconds step = 0;
    /// From nothing in flight to the end of its last update, with what only the first step does.
    Seconds first_step = 0;
    int steps = 0;        ///< simulated until one repeated the one before
    bool steady = false;  ///< two in a row did; else `step` is the mean of the last half
    std::vector<OperationInterval> operations;  ///< of the steady step, in the program's order
};

/// Runs the plan with one SimGrid actor a lane, several steps in a row until the step time is
/// steady. The same to the bit whatever ran before. Any thread may call it: one after another runs,
/// see simulation_service.h. Throws Cancelled where the thread's SimulationScope asks to stop.
SimulatedStep simulate_step(const StepPlan& plan, const MachineSpec& machine,
                            const TrainingSpec& training);

}  // namespace sluice

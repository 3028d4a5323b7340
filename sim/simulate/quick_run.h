// How do the lanes of a plan run, for a search that asks it thousands of times?
#pragma once

#include "sim/simulate/step_run.h"

namespace sluice {

/// run_steps() by the same rules without SimGrid, on the calling thread: the time moves from one
/// end of a flow to the next, between which all rates stay the same. Throws Cancelled.
RunSteps run_quickly(const std::vector<LaneOperation>& work, const MachineSpec& machine,
                     const TrainingSpec& training,
                     Seconds worth = std::numeric_limits<Seconds>::infinity());

}  // namespace sluice

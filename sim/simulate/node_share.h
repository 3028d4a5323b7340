// Which share of its node does a step take? GPUs, host memory, cores and host memory bandwidth.
#pragma once

#include "sim/plan/step.h"
#include "sim/specs/scenario/payment.h"

namespace sluice {

/// The share that a predicted step takes. Host memory: the step's peak over what the node offers.
/// Cores: the optimizer's threads, if the host updates. Bandwidth: the mean of the step over that
/// of all sockets.
NodeShare node_share(const TimedPlan& timed, const MachineSpec& machine);
/// The part that is known before the step is: GPUs and host memory, whose peak is in bytes.
NodeShare memory_share(Bytes host_peak, const TrainingSpec& training, const MachineSpec& machine);

/// And cores, if the plan's optimizer runs on the host.
NodeShare share_before_step(const StepProgram& program, Bytes host_peak,
                            const TrainingSpec& training, const MachineSpec& machine);

}  // namespace sluice

// What does one operation demand of the machine: bytes over which resource, at most how fast?
#pragma once

#include <vector>

#include "sim/plan/step_plan.h"
#include "sim/specs/machine/kernel_time.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {

/// An operation as a flow: `bytes` at no more than `rate`, sharing the resources of its lane (see
/// platform.h). Alone it takes bytes / rate seconds.
struct FlowDemand {
    double bytes = 0;
    double rate = 0;          ///< bytes/s, > 0
    KernelCost kernels = {};  ///< of the compute lane; the rate is that of its `seconds`

    Seconds alone() const { return bytes / rate; }
};

/// One demand an operation, in the program's order.
std::vector<FlowDemand> operation_demands(const StepProgram& program, const MachineSpec& machine,
                                          const TrainingSpec& training);

/// Threads of the optimizer: as asked, or those that are fastest on the machine.
int optimizer_threads(const MachineSpec& machine, const TrainingSpec& training);

}  // namespace sluice

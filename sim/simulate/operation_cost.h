// What does one operation demand of the machine: bytes over which resource, at most how fast? And
// how long does compute take now, given what the GPU did just before?
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

/// What kernels may still draw beyond the power limit (see ClockSpec).
class PowerBudget {
  public:
    /// Starts rested.
    explicit PowerBudget(const ClockSpec& clock) : clock_(clock), joules_(clock.headroom_j) {}

    /// Seconds that kernels of this cost take from `now` on, alone; uses up what they draw beyond
    /// the limit. Precondition: `now` is not before end() of what ran last.
    Seconds begin(Seconds now, const KernelCost& cost);
    /// They ended, later than alone where something slowed them down.
    void end(Seconds now) { idle_since_ = now; }

    /// What may still be drawn beyond the limit.
    double left_j() const { return joules_; }
    /// As if so much of it had been used. Precondition: at most left_j().
    void use(double joules) { joules_ -= joules; }

  private:
    ClockSpec clock_;
    double joules_;
    Seconds idle_since_ = 0;
};

}  // namespace sluice

// How many bytes does one operation demand of which resource, at which rate at most? How long does
// compute take now, given the GPU's recent power?
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/plan/step_plan.h"
#include "sim/specs/machine/kernel_time.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {

/// An operation as a flow of `bytes` at no more than `rate`, which shares the resources of its lane
/// (see platform.h). Alone it takes bytes / rate seconds.
struct FlowDemand {
    double bytes = 0;
    double rate = 0;          ///< bytes/s, > 0
    KernelCost kernels = {};  ///< of the compute lane; the rate follows from its `seconds`

    Seconds alone() const { return bytes / rate; }
};

/// Costs of kernels on one GPU. Those of a list are computed once.
class KernelCosts {
  public:
    /// The GPU must outlive it.
    explicit KernelCosts(const GpuSpec& gpu) : gpu_(gpu) {}
    /// That of kernels_cost().
    const KernelCost& of(const KernelList& list, KernelStyle style);

  private:
    struct Known {
        KernelList list;
        KernelStyle style;
        KernelCost cost;
    };
    const GpuSpec& gpu_;
    std::unordered_multimap<std::uint64_t, Known> known_;  ///< by a hash of the list
};

/// One demand per operation, in the program's order.
std::vector<FlowDemand> operation_demands(const StepProgram& program, const MachineSpec& machine,
                                          const TrainingSpec& training, KernelCosts& costs);
std::vector<FlowDemand> operation_demands(const StepProgram& program, const MachineSpec& machine,
                                          const TrainingSpec& training);

/// Threads of the optimizer: as given, or the fastest number on the machine.
int optimizer_threads(const MachineSpec& machine, const TrainingSpec& training);

/// The energy that kernels may still draw beyond the power limit (see ClockSpec).
class PowerBudget {
  public:
    /// Starts rested.
    explicit PowerBudget(const ClockSpec& clock) : clock_(clock), joules_(clock.headroom_j) {}

    /// Seconds that kernels of this cost take from `now` on, alone; uses up energy beyond the
    /// limit. Precondition: `now` is not before end() of the last kernels.
    Seconds begin(Seconds now, const KernelCost& cost);
    /// Notes when they ended, which contention may have delayed.
    void end(Seconds now) { idle_since_ = now; }

    double left_j() const { return joules_; }
    /// Uses up energy. Precondition: at most left_j().
    void use(double joules) { joules_ -= joules; }

  private:
    ClockSpec clock_;
    double joules_;
    Seconds idle_since_ = 0;
};

}  // namespace sluice

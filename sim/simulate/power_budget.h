// How long does compute take now, given what the GPU did just before? See ClockSpec.
#pragma once

#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/machine/kernel_time.h"

namespace sluice {

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

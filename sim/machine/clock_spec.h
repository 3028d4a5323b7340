// How much faster does a GPU compute that is not at its power limit?
#pragma once

#include "sim/units.h"

namespace sluice {

/// Kernel times of a profile are those beside large products, which hold a GPU at its power limit
/// and its clock below the highest. A GPU that rested runs at the highest clock until it has used
/// more than the limit for some time, which is like a store of energy: it empties by what kernels
/// draw beyond the limit and fills by what they leave of it.
struct ClockSpec {
    /// Joules of that store; 0: not measured, kernels always take their times of the profile.
    double headroom_j = 0;
    double limit_w = 0;  ///< in large products, held at the limit
    double idle_w = 0;
    /// While such kernels run at the highest clock.
    double gemm_w = 0, attention_w = 0, memory_w = 0;
    /// Time at the highest clock, of that in the profile.
    double gemm_share = 1, attention_share = 1, memory_share = 1;
    /// Energy of a kernel at the limit's clock, of that at the highest.
    double energy_share() const { return limit_w / (gemm_w * gemm_share); }
};

}  // namespace sluice

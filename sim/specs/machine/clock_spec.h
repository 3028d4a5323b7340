// How much faster does a GPU compute that is not at its power limit?
#pragma once

#include "sim/base/units.h"

namespace sluice {

/// Kernel times of a profile are those at the GPU's highest clock. It runs there until it has drawn
/// more than its power limit for some time, which is like a store of energy: it empties by what
/// kernels draw beyond the limit and fills by what they leave of it. Once empty, the clock falls
/// until kernels draw what the limit is.
struct ClockSpec {
    double headroom_j = 0;  ///< of that store; 0: not measured, the clock is always the highest
    double limit_w = 0;
    double idle_w = 0;
    /// Energy at the highest clock, beside what idling takes.
    double joules_per_flop = 0, joules_per_flop_of_attention = 0, joules_per_byte = 0;
    /// Large products, held at the limit: their time at the highest clock as a share of it, and
    /// energy as a multiple of it.
    double time_share = 1, energy_share = 1;
};

}  // namespace sluice

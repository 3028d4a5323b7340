// How long does a call of the compute lane take on a GPU that rested before it? Its clock is at its
// highest then: the power limit is held over some 50 ms, not from one instant to the next.
#pragma once

#include <cstdint>
#include <functional>

#include "calibrate/cases/bench.h"

namespace sluice {

/// Seconds of one call of `enqueue(call)`, in bursts of about 3 ms (or one call) with a rest before
/// each. `seconds_a_call`: about. Leaves the GPU at its highest clock: heat() it before anything
/// else is timed.
Sample time_rested(Bench& bench, Seconds seconds_a_call,
                   const std::function<void(std::int64_t)>& enqueue);

}  // namespace sluice

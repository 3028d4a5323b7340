// How many bytes does the device (the host) hold at each moment of a steady step?
#pragma once

#include <vector>

#include "sim/plan/step.h"

namespace sluice {

/// From `start` until the next moment's.
struct MemoryMoment {
    Seconds start = 0;
    Bytes bytes = 0;  ///< of all kinds
    BytesByKind by_kind{};
};

/// The plan's buffers over [0, step), the first moment at 0: a buffer counts from the start of the
/// first operation that uses it to the end of the last, one that nothing uses by name all the time.
/// A steady step repeats, so what is alive at its end may be alive at its start too. Where
/// operations of other lanes use buffers, those of two steps may be alive at once, which the plan's
/// peak, that walks the program in order, does not count. Precondition: step > 0, and one interval
/// an operation.
std::vector<MemoryMoment> memory_over_step(const TimedPlan& report, Tier tier);

/// The moment of the most bytes, the first of equals. Precondition: a moment at least.
const MemoryMoment& most_memory(const std::vector<MemoryMoment>& moments);

/// Whether any buffer of the tier is freed and taken within a step; else the curve is flat.
bool memory_changes(const TimedPlan& report, Tier tier);

}  // namespace sluice

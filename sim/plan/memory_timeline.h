// How many bytes do memories hold at each moment of a steady step?
#pragma once

#include <vector>

#include "sim/plan/step.h"

namespace sluice {

/// From `start` until the next moment.
struct MemoryMoment {
    Seconds start = 0;
    Bytes bytes = 0;  ///< of all kinds
    BytesByKind by_kind{};
};

/// The plan's buffers over [0, step), with the first moment at 0. A buffer counts from the start of
/// the first operation that uses it to the end of the last; a buffer that no operation uses counts
/// all the time. A steady step repeats, so buffers that are alive at its end may be alive at its
/// start too. If operations of other lanes use buffers, buffers of two steps may be alive together;
/// the plan's peak, which follows the program's order, does not count that. The device's gaps are
/// those at the peak, all the time. Precondition: step > 0, and one interval per operation.
std::vector<MemoryMoment> memory_over_step(const TimedPlan& report, Memory memory);

/// The moment with the most bytes; of equal ones the first. Precondition: at least one moment.
const MemoryMoment& most_memory(const std::vector<MemoryMoment>& moments);

/// Whether any buffer of the memory is allocated and freed within a step; else the curve is
/// constant.
bool memory_changes(const TimedPlan& report, Memory memory);

}  // namespace sluice

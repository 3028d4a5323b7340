// Where is each buffer of the plan in one block of device memory?
#pragma once

#include <vector>

#include "sim/plan/step_plan.h"

namespace sluice {

inline constexpr Bytes kArenaAlignment = 4096;  ///< of each buffer

struct ArenaLayout {
    std::vector<Bytes> offset;  ///< by BufferId; -1: no bytes, or another tier
    std::vector<Bytes> bytes;   ///< room at the offset
    Bytes total = 0;
};

/// Buffers whose lifetimes do not overlap share memory. Each gets `scale` times its planned bytes
/// (2 if activations are fp32) and `room` for the alignment of its parts.
ArenaLayout layout_arena(const MemoryPlan& plan, OperationId operations, int scale, Bytes room);

}  // namespace sluice

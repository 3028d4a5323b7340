// Where is each buffer of the plan in one block of device memory, and how large is the block?
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "sim/plan/step_plan.h"

namespace sluice {

inline constexpr Bytes kArenaAlignment = 4096;  ///< of each buffer
inline constexpr Bytes kPartAlignment = 256;    ///< of tensors in a part of a buffer
inline constexpr Bytes kRoomForParts = 8192;    ///< for the gaps that 32 of them leave

struct ArenaLayout {
    std::vector<Bytes> offset;  ///< by BufferId; -1: no bytes, or another memory
    std::vector<Bytes> bytes;   ///< room at the offset
    Bytes total = 0;
};

/// Buffers whose lifetimes do not overlap share memory. Each gets `scale` times its planned bytes
/// (2 if activations are fp32). The planner asks how much memory a plan takes, the trainer where
/// the buffers are: both get the same layout. A total of `enough` ends the search for a smaller
/// one. `memory`: of the device.
ArenaLayout layout_arena(const MemoryPlan& plan, int scale = 1, Bytes enough = 0,
                         Memory memory = Tier::device);

/// Two buffers that are alive at once and share memory, which no layout may do; empty: none.
std::optional<std::pair<BufferId, BufferId>> buffers_that_meet(const MemoryPlan& plan,
                                                               const ArenaLayout& layout);

/// The most that the plan takes of a device: the bytes alive at once, and where its program lays
/// them out in one arena, the gaps that this leaves. `enough` as above.
Peak device_peak(const MemoryPlan& plan, OperationId operations, Bytes enough = 0,
                 Memory memory = Tier::device);

}  // namespace sluice

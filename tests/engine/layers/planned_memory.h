// The memory that the plan gives a pass: of exactly that size, NaN where nothing was written.
#pragma once

#include <cstring>
#include <vector>

#include "engine/layers/workspace.h"
#include "sim/plan/arena_layout.h"
#include "sim/plan/schedules/streamed.h"
#include "sim/specs/machine/machine_spec.h"
#include "tests/catch.h"

namespace sluice {

/// Plans count activations as bf16; fp32 takes twice that.
inline Bytes planned_bytes(const StreamedPlan& plan, BufferId id, DType type) {
    if (id == kNoBuffer) return 0;
    const Bytes planned = plan.step.memory.buffers[static_cast<std::size_t>(id)].bytes;
    return planned * bytes_of(type) / bytes_of(DType::bf16);
}

class PlannedMemory {
  public:
    PlannedMemory(const StreamedPlan& plan, BufferId id, DType type, std::int64_t parts = 1)
        : bytes_(planned_bytes(plan, id, type) / parts + kRoomForParts),
          memory_(static_cast<std::size_t>(bytes_ + kPartAlignment + kGuard), '\xFF') {}

    Workspace workspace() { return {begin(), bytes_}; }
    bool guard_untouched() {
        const std::vector<char> expected(static_cast<std::size_t>(kGuard), '\xFF');
        return std::memcmp(begin() + bytes_, expected.data(), expected.size()) == 0;
    }

  private:
    static constexpr Bytes kGuard = 256;
    char* begin() {
        const auto address = static_cast<Bytes>(reinterpret_cast<std::uintptr_t>(memory_.data()));
        return memory_.data() + (kPartAlignment - address % kPartAlignment) % kPartAlignment;
    }
    Bytes bytes_;
    std::vector<char> memory_;
};

}  // namespace sluice

// Which bytes live where, and when: decides whether a step fits.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/plan/step_program.h"

namespace sluice {

enum class Tier : std::uint8_t { device, host, storage };

/// What a buffer is for; reports add up bytes by kind.
enum class MemoryKind : std::uint8_t {
    weights,
    gradients,
    checkpoints,
    activations,
    loss,
    workspace,
    optimizer_state,
    pinned_buffers,
    process,
};
inline constexpr int kMemoryKindCount = 9;
const char* memory_kind_name(MemoryKind kind);

inline constexpr OperationId kWholeStep = -1;

/// Bytes alive from the first to the last operation that uses them, in the program's order; or for
/// the whole step.
struct Buffer {
    std::string name;
    MemoryKind kind = MemoryKind::workspace;
    Tier tier = Tier::device;
    Bytes bytes = 0;
    OperationId first = kWholeStep;
    OperationId last = kWholeStep;
};

/// Host memory of a moment that is not a step: loading, saving. Most out-of-memory reports come
/// from these.
struct HostMoment {
    std::string name;
    Bytes bytes = 0;
    std::string what;  ///< what is there beyond the steady state, in words
};

using BytesByKind = std::array<Bytes, kMemoryKindCount>;

/// Most bytes alive at once on a tier, and what they are at that moment.
struct Peak {
    Bytes bytes = 0;
    OperationId operation = 0;  ///< where in the program
    BytesByKind by_kind{};
};

struct MemoryPlan {
    std::vector<Buffer> buffers;
    std::vector<HostMoment> host_moments;  ///< loading, first step, steady, saving
    Bytes host_between_steps = 0;          ///< resident when a step has ended
};

/// Walks the program once; a buffer's bytes count from its first to its last operation, ends
/// included.
Peak peak_memory(const MemoryPlan& plan, Tier tier, OperationId operation_count);

}  // namespace sluice

#include "sim/plan/memory_plan.h"

namespace sluice {

const char* memory_kind_name(MemoryKind kind) {
    switch (kind) {
        case MemoryKind::weights:
            return "weights";
        case MemoryKind::gradients:
            return "gradients";
        case MemoryKind::checkpoints:
            return "checkpoints";
        case MemoryKind::activations:
            return "activations";
        case MemoryKind::loss:
            return "loss";
        case MemoryKind::workspace:
            return "workspace";
        case MemoryKind::optimizer_state:
            return "optimizer state";
        case MemoryKind::pinned_buffers:
            return "pinned buffers";
        case MemoryKind::process:
            return "process";
    }
    return "";
}

Peak peak_memory(const MemoryPlan& plan, Tier tier, OperationId operation_count) {
    const auto count = static_cast<std::size_t>(operation_count);
    std::vector<Bytes> change(count + 1, 0);
    Bytes always = 0;
    for (const Buffer& buffer : plan.buffers) {
        if (buffer.tier != tier) continue;
        if (buffer.first == kWholeStep) {
            always += buffer.bytes;
        } else {
            change[static_cast<std::size_t>(buffer.first)] += buffer.bytes;
            change[static_cast<std::size_t>(buffer.last) + 1] -= buffer.bytes;
        }
    }
    Peak peak{always, 0, {}};
    Bytes alive = always;
    for (std::size_t i = 0; i < count; ++i) {
        alive += change[i];
        if (alive > peak.bytes) peak = {alive, static_cast<OperationId>(i), {}};
    }
    for (const Buffer& buffer : plan.buffers) {
        const bool then = buffer.first == kWholeStep ||
                          (buffer.first <= peak.operation && peak.operation <= buffer.last);
        if (buffer.tier == tier && then)
            peak.by_kind[static_cast<std::size_t>(buffer.kind)] += buffer.bytes;
    }
    return peak;
}

}  // namespace sluice

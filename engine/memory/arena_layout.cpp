#include "engine/memory/arena_layout.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr Bytes kAlignment = 4096;

struct Lifetime {
    OperationId first, last;
    bool overlaps(const Lifetime& other) const {
        return first <= other.last && other.first <= last;
    }
};

Lifetime lifetime(const Buffer& buffer, OperationId operations) {
    if (buffer.first == kWholeStep) return {0, operations};
    return {buffer.first, buffer.last};
}

/// The lowest gap of `bytes` that none of the placed buffers alive at the same time covers.
Bytes lowest_gap(std::vector<std::pair<Bytes, Bytes>> taken, Bytes bytes) {
    std::sort(taken.begin(), taken.end());
    Bytes at = 0;
    for (const auto& [begin, end] : taken) {
        if (begin - at >= bytes) break;
        at = std::max(at, end);
    }
    return at;
}

}  // namespace

ArenaLayout layout_arena(const MemoryPlan& plan, OperationId operations, int scale, Bytes room) {
    const std::size_t count = plan.buffers.size();
    ArenaLayout layout{std::vector<Bytes>(count, -1), std::vector<Bytes>(count, 0), 0};
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < count; ++i) {
        const Buffer& buffer = plan.buffers[i];
        const Lifetime life = lifetime(buffer, operations);
        if (buffer.tier != Tier::device || buffer.bytes == 0 || life.last < life.first) continue;
        layout.bytes[i] = (buffer.bytes * scale + room + kAlignment - 1) / kAlignment * kAlignment;
        order.push_back(i);
    }
    // Longest lived first, then largest: short lives fill the gaps above.
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const Lifetime x = lifetime(plan.buffers[a], operations),
                       y = lifetime(plan.buffers[b], operations);
        const auto length_x = x.last - x.first, length_y = y.last - y.first;
        if (length_x != length_y) return length_x > length_y;
        return layout.bytes[a] > layout.bytes[b];
    });
    std::vector<std::size_t> placed;
    for (const std::size_t i : order) {
        std::vector<std::pair<Bytes, Bytes>> taken;
        const Lifetime mine = lifetime(plan.buffers[i], operations);
        for (const std::size_t other : placed) {
            if (mine.overlaps(lifetime(plan.buffers[other], operations)))
                taken.emplace_back(layout.offset[other],
                                   layout.offset[other] + layout.bytes[other]);
        }
        layout.offset[i] = lowest_gap(std::move(taken), layout.bytes[i]);
        layout.total = std::max(layout.total, layout.offset[i] + layout.bytes[i]);
        placed.push_back(i);
    }
    return layout;
}

}  // namespace sluice

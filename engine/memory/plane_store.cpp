#include "engine/memory/plane_store.h"

#include <fmt/format.h>

#include "engine/memory/parameter_store.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

constexpr Bytes kLine = 64;

/// The process is there anyway.
bool is_allocated(const Buffer& buffer) {
    return buffer.tier == Tier::host && buffer.kind != MemoryKind::process;
}

}  // namespace

PlaneStore::PlaneStore(const StreamedPlan& plan, Device& device, ThreadPool& pool)
    : start_(plan.step.memory.buffers.size(), nullptr), bytes_(plan.step.memory.buffers.size(), 0) {
    const std::vector<Buffer>& buffers = plan.step.memory.buffers;
    const ArenaLayout layout = layout_arena(plan.step.memory);
    if (const auto meet = buffers_that_meet(plan.step.memory, layout))
        throw InternalError(
            fmt::format("\"{}\" and \"{}\" share memory, and both are needed at once",
                        buffers[index(meet->first)].name, buffers[index(meet->second)].name));
    arena_bytes_ = layout.total;
    const std::size_t workspace = index(plan.buffers.kernel_workspace);
    char* const arena =
        device.allocate_arena(layout.total, layout.offset[workspace], layout.bytes[workspace]);
    for (std::size_t id = 0; id < buffers.size(); ++id) {
        const Buffer& buffer = buffers[id];
        if (buffer.tier == Tier::device && layout.offset[id] >= 0) {
            start_[id] = arena + layout.offset[id];
            bytes_[id] = layout.bytes[id];
        } else if (is_allocated(buffer)) {
            const HostRegion& region =
                host_.emplace_back(buffer.bytes + buffer.parts * (kRoomForParts + kPage),
                                   buffer.name.c_str(), pool, buffer.pinned ? &device : nullptr);
            start_[id] = region.data();
            bytes_[id] = region.bytes();
        }
    }
}

Bytes PlaneStore::host_bytes() const {
    Bytes sum = 0;
    for (const HostRegion& region : host_) sum += region.bytes();
    return sum;
}

char* BufferParts::take(Bytes bytes) {
    char* const here = next_;
    next_ += (bytes + alignment_ - 1) / alignment_ * alignment_;
    if (next_ > end_)
        throw InternalError(
            fmt::format("a buffer of the plan is {} bytes too small for its parts", next_ - end_));
    return here;
}

std::vector<ParameterBlock> section_blocks(const ModelSpec& model, int state_bytes,
                                           const StreamedPlan& plan, const PlaneStore& store) {
    const StreamedBuffers::OnHost& host = plan.buffers.host;
    BufferParts weights(store, host.weights, kLine), table(store, host.embedding, kLine),
        states(store, host.states, kLine), visiting(store, host.visiting_states, kLine);
    const std::vector<std::int64_t> sizes = section_sizes(model);
    std::vector<ParameterBlock> out;
    for (int section = 0; section < plan.homes.sections.count(); ++section) {
        const std::int64_t count = sizes[static_cast<std::size_t>(section)];
        if (plan.homes.is_resident(section)) {
            const BufferId id = plan.buffers.resident[static_cast<std::size_t>(section)];
            out.push_back(place_block(count, state_bytes, store.workspace(id)));
            continue;
        }
        ParameterBlock& block = out.emplace_back();
        block.count = count;
        block.state_bytes = state_bytes;
        const bool apart = plan.buffers.host_weights(plan.homes, model, section) == host.embedding;
        block.high =
            reinterpret_cast<std::uint16_t*>((apart ? table : weights).take(kBf16 * count));
        BufferParts& rest = plan.homes.is_visiting(section) ? visiting : states;
        place_state(block, [&](Bytes bytes) { return rest.take(bytes); });
    }
    return out;
}

}  // namespace sluice

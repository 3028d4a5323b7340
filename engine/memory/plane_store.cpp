#include "engine/memory/plane_store.h"

#include <fmt/format.h>

#include "engine/layers/transformer_layer.h"
#include "engine/memory/parameter_store.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

/// The process is there anyway.
bool is_allocated(const Buffer& buffer) {
    return buffer.memory == Tier::host && buffer.kind != MemoryKind::process;
}

}  // namespace

PlaneStore::PlaneStore(const ModelSpec& model, const StreamedPlan& plan, Device& device,
                       ThreadPool& pool)
    : plan_(plan),
      parts_(model, plan, stored_sizes(model, plan)),
      start_(plan.step.memory.buffers.size(), nullptr),
      bytes_(plan.step.memory.buffers.size(), 0) {
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
        if (buffer.memory == Tier::device && layout.offset[id] >= 0) {
            start_[id] = arena + layout.offset[id];
            bytes_[id] = layout.bytes[id];
        } else if (is_allocated(buffer)) {
            const HostRegion& region =
                host_.emplace_back(buffer.bytes + buffer.parts * kRoomForParts, buffer.name.c_str(),
                                   pool, buffer.pinned ? &device : nullptr);
            start_[id] = region.data();
            bytes_[id] = region.bytes();
        } else if (buffer.memory != Tier::device && buffer.memory != Tier::host) {
            throw InternalError(
                fmt::format("the engine has no memory on {}", memory_name(buffer.memory)));
        }
    }
}

Bytes PlaneStore::host_bytes() const {
    Bytes sum = 0;
    for (const HostRegion& region : host_) sum += region.bytes();
    return sum;
}

char* PlaneStore::at(const BufferBlock& block) const {
    if (block.offset + block.bytes > bytes(block.buffer))
        throw InternalError(fmt::format("\"{}\" has {} bytes, of which {} are used",
                                        plan_.step.memory.buffers[index(block.buffer)].name,
                                        bytes(block.buffer), block.offset + block.bytes));
    return at(block.buffer) + block.offset;
}

ParameterBlock PlaneStore::parameters(const BufferBlocks& weights,
                                      const BufferBlocks& states) const {
    ParameterBlock out;
    out.count = weights.front().bytes / kBf16;
    out.state_bytes = plan_.shape.state_bytes;
    out.high = reinterpret_cast<std::uint16_t*>(at(weights.front()));
    auto next = states.begin();
    place_state(out, [&](Bytes) { return at(*next++); });
    return out;
}

std::vector<ParameterBlock> PlaneStore::sections() const {
    std::vector<ParameterBlock> out;
    for (int section = 0; section < plan_.homes.sections.count(); ++section)
        out.push_back(
            plan_.homes.is_resident(section)
                ? on_device(plan_.buffers.resident[index(section)])
                : parameters(
                      parts_.part(plan_.buffers.host_weights(plan_.homes, section), section),
                      parts_.part(plan_.buffers.host_states(plan_.homes, section), section)));
    return out;
}

StoredSizes stored_sizes(const ModelSpec& model, const StreamedPlan& plan) {
    StoredSizes out{section_sizes(model), {}, {}};
    for (int index = 0; index < model.layer_count(); ++index) {
        const LayerSpec& kind = model.layer(index);
        out.codes.push_back(coded_layout(layer_layout(model, kind)).size);
        const TransformerLayer layer(model, kind, plan.shape.micro_batch, activation_type(plan));
        Workspace endless = Workspace::endless();
        layer.keep(plan.homes.recompute(index), endless, plan.homes.kept_bits(index));
        out.kept.push_back(endless.used());
    }
    return out;
}

}  // namespace sluice

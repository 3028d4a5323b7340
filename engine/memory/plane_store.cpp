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
    : model_(model),
      plan_(plan),
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
                host_.emplace_back(buffer.bytes + buffer.parts * kRoomForParts, buffer.name.data(),
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
                                      const BufferBlocks* states) const {
    ParameterBlock out;
    out.count = weights.front().bytes / kBf16;
    out.state_bytes = states != nullptr ? plan_.shape.state_bytes : kFrozen.bytes;
    out.high = reinterpret_cast<std::uint16_t*>(at(weights.front()));
    if (states == nullptr) return out;
    auto next = states->begin();
    place_state(out, [&](Bytes) { return at(*next++); });
    return out;
}

std::vector<ParameterBlock> PlaneStore::sections() const {
    std::vector<ParameterBlock> out;
    const Placement& homes = plan_.homes;
    for (int section = 0; section < homes.sections.count(); ++section) {
        const bool trained = homes.is_trained(section);
        if (!homes.has_bf16(section)) {
            out.push_back({.count = section_sizes(model_)[index(section)],
                           .state_bytes = static_cast<int>(kFrozen.bytes)});
            continue;
        }
        if (homes.is_resident(section)) {
            out.push_back(on_device(plan_.buffers.resident[index(section)], trained));
            continue;
        }
        const BufferId weights = plan_.buffers.host_weights(homes, section);
        out.push_back(parameters(
            parts_.part(weights, section),
            trained ? &parts_.part(plan_.buffers.host_states(homes, section), section) : nullptr));
    }
    return out;
}

StoredSizes stored_sizes(const ModelSpec& model, const StreamedPlan& plan) {
    StoredSizes out{section_sizes(model, plan.shape.adapters), {}, {}};
    for (int index = 0; index < model.layer_count(); ++index) {
        const LayerSpec& kind = model.layer(index);
        out.codes.push_back(layer_layout(model, kind, plan.homes.weights(index).form).size);
        const TransformerLayer layer(model, kind, plan.shape.micro_batch, activation_type(plan));
        Workspace endless = Workspace::endless();
        const AdapterLayout adapters = adapter_layout(model, kind, plan.shape.adapters);
        layer.keep(plan.homes.recompute(index), endless, plan.homes.kept_bits(index),
                   plan.shape.adapters.present() ? &adapters : nullptr);
        out.kept.push_back(endless.used());
    }
    return out;
}

}  // namespace sluice

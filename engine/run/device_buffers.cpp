#include "engine/run/device_buffers.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

constexpr Bytes kRoomForParts = 8192;  // 32 parts of a buffer start at multiples of 256 bytes

/// What is kept has parts for each micro-batch.
MemoryPlan with_room(const StreamedPlan& plan, std::int64_t micro_batches, int scale) {
    MemoryPlan roomy = plan.step.memory;
    for (const BufferId id : plan.buffers.kept)
        if (id != kNoBuffer)
            roomy.buffers[static_cast<std::size_t>(id)].bytes +=
                kRoomForParts * (micro_batches - 1) / scale;
    return roomy;
}

Bytes largest_slot(const ModelSpec& model) {
    Bytes largest = 0;
    for (const LayerSpec& kind : model.kinds)
        largest = std::max(largest, kBf16 * layer_layout(model, kind).size);
    return largest;  // a multiple of 16 bytes, as each tensor of a layout
}

}  // namespace

DeviceBuffers::DeviceBuffers(const ModelSpec& model, const TrainingSpec& training,
                             const StreamedPlan& plan, Device& device, DType activations)
    : ids_(plan.buffers),
      depth_(training.buffer_depth),
      slabs_(training.gradient_slabs),
      micro_batches_(training.micro_batches()),
      micro_tokens_(training.micro_batch_block().tokens()),
      hidden_(model.hidden),
      layers_(model.layer_count()),
      slot_bytes_(largest_slot(model)),
      type_(activations) {
    const auto operations = static_cast<OperationId>(plan.step.program.operations.size());
    const int scale = activations == DType::fp32 ? 2 : 1;
    layout_ =
        layout_arena(with_room(plan, micro_batches_, scale), operations, scale, kRoomForParts);
    const Bytes planned = scale * peak_memory(plan.step.memory, Tier::device, operations).bytes;
    const Bytes room =
        kRoomForParts * micro_batches_ * static_cast<Bytes>(plan.step.memory.buffers.size());
    if (layout_.total > planned + planned / 100 + room) {
        throw InternalError(
            fmt::format("the arena takes {} bytes, the plan {}", layout_.total, planned));
    }
    const auto workspace = static_cast<std::size_t>(ids_.kernel_workspace);
    arena_ =
        device.allocate_arena(layout_.total, layout_.offset[workspace], layout_.bytes[workspace]);
}

void* DeviceBuffers::weight_slot(int layer) const {
    return static_cast<char*>(at(ids_.weight_slots)) + layer % depth_ * slot_bytes_;
}

void* DeviceBuffers::gradient_slab(int layer) const {
    return static_cast<char*>(at(ids_.gradient_slabs)) + layer % slabs_ * slot_bytes_;
}

Matrix DeviceBuffers::whole_hidden(int layer) const {
    const BufferId id =
        layer == layers_ ? ids_.hidden_gradient : ids_.inputs[static_cast<std::size_t>(layer)];
    return {at(id), type_, micro_batches_ * micro_tokens_, hidden_};
}

Matrix DeviceBuffers::hidden(int layer, std::int64_t j) const {
    return whole_hidden(layer).row_range(j * micro_tokens_, micro_tokens_);
}

Matrix DeviceBuffers::coming_back(std::int64_t which) const {
    const Matrix both{at(ids_.coming_back), type_, 2 * micro_tokens_, hidden_};
    return both.row_range(which % 2 * micro_tokens_, micro_tokens_);
}

Workspace DeviceBuffers::kept(int layer, std::int64_t j) const {
    const BufferId id = ids_.kept[static_cast<std::size_t>(layer)];
    if (id == kNoBuffer) return {nullptr, 0};
    const Bytes part = bytes(id) / micro_batches_ / kPartAlignment * kPartAlignment;
    return {static_cast<char*>(at(id)) + j * part, part};
}

}  // namespace sluice

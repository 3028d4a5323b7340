// Where is the memory of a plan's buffers: in the device's arena, and in regions of the host?
#pragma once

#include <vector>

#include "engine/device/device.h"
#include "engine/layers/workspace.h"
#include "engine/memory/host_region.h"
#include "engine/optimizer/adamw.h"
#include "sim/plan/arena_layout.h"
#include "sim/plan/schedules/streamed_parts.h"

namespace sluice {

/// Allocates the plan's buffers, all of them and nothing else, so that a plan that fits runs: those
/// of the device in one arena, those of the host each in a region, page-locked where the plan says
/// so, with room for the alignment of its parts. All is zero at first.
class PlaneStore {
  public:
    /// `model` and `plan` must outlive it. Throws InputError if the host's memory is short,
    /// InternalError if buffers that are alive at once would meet, or are neither on the first
    /// device nor the host.
    PlaneStore(const ModelSpec& model, const StreamedPlan& plan, Device& device, ThreadPool& pool);

    /// Null for kNoBuffer.
    char* at(BufferId id) const { return id == kNoBuffer ? nullptr : start_[index(id)]; }
    /// Room there; 0 for kNoBuffer.
    Bytes bytes(BufferId id) const { return id == kNoBuffer ? 0 : bytes_[index(id)]; }
    Workspace workspace(BufferId id) const { return {at(id), bytes(id)}; }
    /// Throws InternalError if the buffer has no such room.
    char* at(const BufferBlock& block) const;
    const StreamedParts& parts() const { return parts_; }
    /// Where a part of a buffer begins. Precondition: there is such a buffer.
    char* part(BufferId id, std::int64_t part = 0) const {
        return at(parts_.part(id, part).front());
    }
    /// The parameters of each section at home, and of a layer while it visits the device; zeros.
    /// Without an address where there are codes alone.
    std::vector<ParameterBlock> sections() const;
    ParameterBlock visit(int layer) const {
        return on_device(plan_.buffers.visit(plan_.homes, layer));
    }
    Bytes device_bytes() const { return arena_bytes_; }
    Bytes host_bytes() const;

  private:
    static std::size_t index(BufferId id) { return static_cast<std::size_t>(id); }
    /// Without `states` they are frozen.
    ParameterBlock parameters(const BufferBlocks& weights, const BufferBlocks* states) const;
    ParameterBlock on_device(BufferId id, bool trained = true) const {
        return parameters(parts_.part(id, 0), trained ? &parts_.part(id, 1) : nullptr);
    }

    const ModelSpec& model_;
    const StreamedPlan& plan_;
    const StreamedParts parts_;
    std::vector<char*> start_;  ///< of each buffer
    std::vector<Bytes> bytes_;
    Bytes arena_bytes_ = 0;
    std::vector<HostRegion> host_;
};

inline DType activation_type(const StreamedPlan& plan) {
    return plan.homes.activations == Form::fp32 ? DType::fp32 : DType::bf16;
}
/// As layers and head lay out their tensors.
StoredSizes stored_sizes(const ModelSpec& model, const StreamedPlan& plan);

}  // namespace sluice

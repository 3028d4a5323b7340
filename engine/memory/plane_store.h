// Where is the memory of a plan's buffers: in the device's arena, and in regions of the host?
#pragma once

#include <vector>

#include "engine/device/device.h"
#include "engine/layers/workspace.h"
#include "engine/memory/host_region.h"
#include "engine/optimizer/adamw.h"
#include "sim/plan/arena_layout.h"
#include "sim/plan/schedules/streamed.h"

namespace sluice {

/// Allocates the plan's buffers, all of them and nothing else, so that a plan that fits runs: those
/// of the device in one arena, those of the host each in a region, page-locked where the plan says
/// so, with room for the alignment of its parts. All is zero at first.
class PlaneStore {
  public:
    /// `plan` must outlive it. Throws InputError if the host's memory is short, InternalError if
    /// buffers that are alive at once would meet.
    PlaneStore(const StreamedPlan& plan, Device& device, ThreadPool& pool);

    /// Null for kNoBuffer.
    char* at(BufferId id) const { return id == kNoBuffer ? nullptr : start_[index(id)]; }
    /// Room there; 0 for kNoBuffer.
    Bytes bytes(BufferId id) const { return id == kNoBuffer ? 0 : bytes_[index(id)]; }
    Workspace workspace(BufferId id) const { return {at(id), bytes(id)}; }
    Bytes device_bytes() const { return arena_bytes_; }
    Bytes host_bytes() const;

  private:
    static std::size_t index(BufferId id) { return static_cast<std::size_t>(id); }

    std::vector<char*> start_;  ///< of each buffer
    std::vector<Bytes> bytes_;
    Bytes arena_bytes_ = 0;
    std::vector<HostRegion> host_;
};

/// Parts of a buffer of a PlaneStore, handed out in order, each at a multiple of `alignment`.
class BufferParts {
  public:
    BufferParts(const PlaneStore& store, BufferId id, Bytes alignment)
        : next_(store.at(id)), end_(store.at(id) + store.bytes(id)), alignment_(alignment) {}
    /// Throws InternalError if the buffer has no such room.
    char* take(Bytes bytes);

  private:
    char *next_, *end_;
    Bytes alignment_;
};

/// A block of parameters for each section of the model, in the buffers of its home. Those of the
/// device and of the host alike; zeros.
std::vector<ParameterBlock> section_blocks(const ModelSpec& model, int state_bytes,
                                           const StreamedPlan& plan, const PlaneStore& store);

}  // namespace sluice

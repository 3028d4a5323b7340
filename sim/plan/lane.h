// Which queues does a step have? A lane is a kind of work on a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/specs/machine/topology.h"

namespace sluice {

/// The work of a lane. `host` is the thread that collects gradients (megatrain) or finishes the
/// update (superoffload). The storage works move bytes between a disk and host memory
/// (zero-infinity), the interconnect between GPUs (cluster). `python` is the thread that issues the
/// GPU's work, in schedules where it waits for copies (zero3-offload).
enum class Work : std::uint8_t {
    host_to_device,
    compute,
    device_to_host,
    optimizer,
    host,
    storage_read,
    storage_write,
    interconnect,
    python,
};
inline constexpr std::size_t kWorkCount = 9;

/// A queue whose operations run in order, at the same time as other lanes: the work of one of the
/// devices that a plan uses, or of the host for it.
struct Lane {
    Work work = Work::compute;
    std::int16_t device = 0;

    constexpr Lane(Work of_work = Work::compute, int on_device = 0)
        : work(of_work), device(static_cast<std::int16_t>(on_device)) {}
    /// Its place among the lanes of all devices, and back.
    constexpr std::size_t index() const {
        return static_cast<std::size_t>(device) * kWorkCount + static_cast<std::size_t>(work);
    }
    static constexpr Lane at(std::size_t index) {
        return {static_cast<Work>(index % kWorkCount), static_cast<int>(index / kWorkCount)};
    }
    friend constexpr bool operator==(const Lane&, const Lane&) = default;
};
/// Steps are measured on this lane: from its first operation to that of the next step.
inline constexpr Lane kFirstCompute = Work::compute;

/// Copies over the link between a device and the host.
constexpr bool is_copy(Lane lane) {
    return lane.work == Work::host_to_device || lane.work == Work::device_to_host;
}
/// Done by the host's processors, on its memory.
constexpr bool is_host_work(Lane lane) {
    return lane.work == Work::optimizer || lane.work == Work::host;
}
constexpr bool uses_storage(Lane lane) {
    return lane.work == Work::storage_read || lane.work == Work::storage_write;
}
/// A plan has no more devices.
inline constexpr int kMostDevices = 8;

/// For programs: "host_to_device", on the second device "host_to_device:1".
std::string lane_name(Lane lane);
/// For people: "to GPU", on the second device "to GPU 1".
std::string lane_label(Lane lane);
/// The same as part of a sentence: "copies to the GPU", "copies to the GPU (GPU 1)".
std::string lane_words(Lane lane);

/// The memories between which a lane's work moves bytes; one memory for work that reads and writes
/// it; empty: it moves none. Collectives load the memory of their own device.
struct LaneEnds {
    Memory from, to;
    bool cross(Tier tier) const { return from.tier == tier || to.tier == tier; }
};
std::optional<LaneEnds> ends_of(Lane lane);

/// A value for each lane of some devices, in the order of Lane::index().
template <typename T>
class ByLane {
  public:
    ByLane() : ByLane(1) {}
    explicit ByLane(int devices, const T& value = {})
        : values_(static_cast<std::size_t>(devices) * kWorkCount, value) {}
    /// Throws std::out_of_range for a lane of another device.
    T& operator[](Lane lane) { return values_.at(lane.index()); }
    const T& operator[](Lane lane) const { return values_.at(lane.index()); }
    std::size_t size() const { return values_.size(); }
    auto begin() { return values_.begin(); }
    auto end() { return values_.end(); }
    auto begin() const { return values_.begin(); }
    auto end() const { return values_.end(); }

  private:
    std::vector<T> values_;
};

}  // namespace sluice

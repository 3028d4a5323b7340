#include "sim/plan/lane.h"

#include <fmt/format.h>

#include <iterator>

#include "sim/base/in_order.h"

namespace sluice {
namespace {

struct WorkRow {
    Work work;
    const char *name, *label, *words;
};

const WorkRow& row_of(Work one) {
    using enum Work;
    static constexpr WorkRow kRows[] = {
        {host_to_device, "host_to_device", "to GPU", "copies to the GPU"},
        {compute, "compute", "compute", "compute"},
        {device_to_host, "device_to_host", "from GPU", "copies from the GPU"},
        {optimizer, "optimizer", "optimizer", "optimizer"},
        {host, "host", "host", "host"},
        {storage_read, "storage_read", "read", "reads from storage"},
        {storage_write, "storage_write", "write", "writes to storage"},
        {interconnect, "interconnect", "interconnect", "interconnect"},
        {python, "python", "Python", "Python"},
    };
    static_assert(std::size(kRows) == kWorkCount && in_order(kRows, &WorkRow::work));
    return kRows[static_cast<std::size_t>(one)];
}

}  // namespace

std::optional<LaneEnds> ends_of(Lane lane) {
    const Memory device = {Tier::device, lane.device}, host = Tier::host, storage = Tier::storage;
    switch (lane.work) {
        case Work::host_to_device:
            return LaneEnds{host, device};
        case Work::device_to_host:
            return LaneEnds{device, host};
        case Work::compute:
        case Work::interconnect:
            return LaneEnds{device, device};
        case Work::optimizer:
        case Work::host:
            return LaneEnds{host, host};
        case Work::storage_read:
            return LaneEnds{storage, host};
        case Work::storage_write:
            return LaneEnds{host, storage};
        case Work::python:
            return std::nullopt;
    }
    return std::nullopt;
}

std::string lane_name(Lane lane) {
    const char* const name = row_of(lane.work).name;
    return lane.device == 0 ? name : fmt::format("{}:{}", name, lane.device);
}

std::string lane_label(Lane lane) {
    const char* const label = row_of(lane.work).label;
    return lane.device == 0 ? label : fmt::format("{} {}", label, lane.device);
}

std::string lane_words(Lane lane) {
    const char* const words = row_of(lane.work).words;
    return lane.device == 0 ? words : fmt::format("{} (GPU {})", words, lane.device);
}

}  // namespace sluice

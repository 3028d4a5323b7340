#include "sim/specs/machine/topology.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/input_error.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {

std::string memory_name(Memory memory) {
    // In the order of the enumeration.
    static constexpr const char* kNames[] = {"device", "host", "storage"};
    const char* const name = kNames[static_cast<std::size_t>(memory.tier)];
    return memory.index == 0 ? name : fmt::format("{} {}", name, memory.index);
}

const Topology::OfMemory& Topology::of(Memory memory) const {
    const auto found = std::ranges::find(memories, memory, &OfMemory::memory);
    if (found == memories.end())
        throw InternalError(fmt::format("the machine has no memory {}", memory_name(memory)));
    return *found;
}

Topology::Route Topology::route(Memory from, Memory to) const {
    Route out;
    for (const Memory end : {from, to}) {
        // The memory with the bandwidth.
        const Memory shared = of(end).in_host ? Memory(Tier::host) : end;
        const auto index = static_cast<std::size_t>(&of(shared) - memories.data());
        if (memories[index].bandwidth > 0 && std::ranges::count(out.memories, index) == 0)
            out.memories.push_back(index);
    }
    for (const Link& link : links)
        if ((link.host == from && link.device == to) || (link.host == to && link.device == from))
            out.links.push_back(static_cast<std::size_t>(&link - links.data()));
    return out;
}

Topology topology_of(const MachineSpec& machine, int devices) {
    Topology out;
    for (int i = 0; i < devices; ++i)
        out.memories.push_back({{Tier::device, i},
                                machine.gpu.memory_capacity,
                                machine.gpu.context,
                                machine.gpu.memory_bandwidth,
                                machine.unified_memory});
    out.memories.push_back({Tier::host, machine.host.memory_capacity, machine.host.system_reserve,
                            machine.host.dram_bandwidth});
    out.memories.push_back({Tier::storage, machine.storage.capacity});
    const LinkSpec& link = machine.link;
    for (int i = 0; i < devices; ++i)
        out.links.push_back({Tier::host,
                             {Tier::device, i},
                             link.host_to_device,
                             link.device_to_host,
                             link.both_ways_total});
    return out;
}

}  // namespace sluice

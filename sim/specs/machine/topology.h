// Which memories does a machine have, and which links join them? Plans, their fit and the
// simulator's platform are made from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/units.h"

namespace sluice {

struct MachineSpec;

enum class Tier : std::uint8_t { device, host, storage };

/// One memory: that of a GPU, counted from 0, or the host's, or the disk's.
struct Memory {
    Tier tier = Tier::device;
    std::int16_t index = 0;

    constexpr Memory(Tier of_tier = Tier::device, int number = 0)
        : tier(of_tier), index(static_cast<std::int16_t>(number)) {}
    friend constexpr bool operator==(const Memory&, const Memory&) = default;
};
/// "device", "device 1", "host", "storage".
std::string memory_name(Memory memory);

struct Topology {
    struct OfMemory {
        Memory memory;
        Bytes capacity = 0;    ///< 0: not known
        Bytes reserved = 0;    ///< by the GPU's context or the operating system
        double bandwidth = 0;  ///< bytes/s read plus written; 0: what uses it is slower
        bool in_host = false;  ///< it is a part of the host's memory, which has the bandwidth
        /// The most that a plan can have of it; 0 or more.
        Bytes usable() const { return capacity > reserved ? capacity - reserved : 0; }
    };
    /// Between two memories, in bytes/s of copies alone and of both ways together.
    struct Link {
        Memory host, device;
        double to_device = 0, to_host = 0, both_ways = 0;
    };
    std::vector<OfMemory> memories;
    std::vector<Link> links;

    /// Precondition: the machine has it.
    const OfMemory& of(Memory memory) const;

    /// Indices into `memories` and `links` of all that a flow of bytes between two memories
    /// crosses, or within one of them.
    struct Route {
        std::vector<std::size_t> memories, links;
    };
    Route route(Memory from, Memory to) const;
};

/// With so many of the machine's GPUs, each with a link of its own to the host.
Topology topology_of(const MachineSpec& machine, int devices = 1);

}  // namespace sluice

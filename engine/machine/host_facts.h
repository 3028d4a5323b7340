// How large is this machine: memory, processors, NUMA nodes? Which part may this process use, and
// how much memory does it hold?
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/machine/system_files.h"
#include "sim/base/units.h"

namespace sluice {

struct ControlGroupLimits {
    std::optional<Bytes> memory;  ///< empty: no limit
    /// Left by such a limit beside the memory that its group uses and cannot drop.
    std::optional<Bytes> memory_available;
    std::optional<double> cpus;  ///< CPU time per second, in CPUs; empty: no limit
};

/// The tightest limits of the group and of the visible groups around it, in versions 1 and 2 (a
/// machine can have both).
ControlGroupLimits read_control_group_limits(const SystemFiles& files);

/// A logical CPU that this process may use.
struct Cpu {
    int id = 0;
    /// Lowest CPU of the same physical core, which the process may not be allowed to use.
    int core = 0;
    int node = -1;  ///< NUMA node; -1: not known
};

struct NumaNode {
    int id = 0;
    std::vector<int> cpus;        ///< all of them, ascending
    std::optional<Bytes> memory;  ///< MemTotal
    /// MemFree: pages are placed elsewhere before the node drops its caches.
    std::optional<Bytes> free;
    bool memory_may_be_used = true;  ///< by this process
};

/// Transparent huge pages of anonymous memory, for this process.
enum class HugePages : std::uint8_t { unknown, always, madvise, never };

/// The value for "no limit" below.
inline constexpr Bytes kUnlimited = std::numeric_limits<Bytes>::max();

/// Members that could not be read are empty.
struct HostFacts {
    std::string cpu_model;
    std::vector<Cpu> cpus;        ///< ascending
    std::vector<NumaNode> nodes;  ///< ascending; none on a kernel without NUMA
    ControlGroupLimits limits;

    std::optional<Bytes> memory_total;      ///< MemTotal
    std::optional<Bytes> memory_available;  ///< MemAvailable, or less that the group may take
    /// A balloon or hot-plugged memory: on some virtual machines MemTotal grows as it is used.
    bool memory_may_grow = false;
    std::optional<Bytes> swap_used;
    std::optional<Bytes> commit_left;  ///< address space left if overcommit_memory is 2

    HugePages huge_pages = HugePages::unknown;
    std::optional<Bytes> locked_memory_soft, locked_memory_hard;  ///< ulimit -l
    bool locked_memory_unchecked = false;                         ///< CAP_IPC_LOCK, as root has

    /// Those with a CPU that this process may use.
    int physical_cores() const;
    /// Null if there is no such node.
    const NumaNode* node(int id) const;
    /// CPUs of a node that this process may use, ascending.
    std::vector<int> cpus_of_node(int id) const;
};

/// Reads /proc and /sys below `root`; never throws for missing or odd contents.
HostFacts read_host_facts(const std::string& root = "/");

/// Bytes of host memory that this process may use: MemTotal of the allowed nodes, or the control
/// group's limit if that is smaller. If MemTotal may grow, the limit counts even if it is larger,
/// since it is the promised size. Empty if neither is known.
std::optional<Bytes> host_memory_capacity(const HostFacts& facts);

/// Resident bytes; empty if the kernel does not report them.
struct ProcessMemory {
    std::optional<Bytes> anonymous;  ///< RssAnon: the memory of the plan, and the heap
    std::optional<Bytes> file;       ///< RssFile: programs, libraries and mapped data, shared
    std::optional<Bytes> shared;     ///< RssShmem: shared memory and memory files
    std::optional<Bytes> peak;       ///< VmHWM: the most that was resident at once, of all kinds
    std::optional<Bytes> resident() const;  ///< all kinds together
};

/// Reads /proc/self/status below `root`.
ProcessMemory read_process_memory(const std::string& root = "/");

}  // namespace sluice

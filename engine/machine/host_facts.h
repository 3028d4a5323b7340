// What machine is this: memory, processors, NUMA nodes, what of them may this process use, and how
// much memory does it hold?
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
    std::optional<Bytes> memory;  ///< nothing: no limit
    std::optional<double> cpus;   ///< CPUs' worth of time in a second; nothing: no limit
};

/// The tightest limits of the group and of the groups around it that can be seen, in versions 1 and
/// 2 (a machine can have both).
ControlGroupLimits read_control_group_limits(const SystemFiles& files);

/// A logical CPU that this process may use.
struct Cpu {
    int id = 0;
    int core = 0;   ///< lowest CPU of the same physical core, whether the process may use it or not
    int node = -1;  ///< NUMA node; -1: not known
};

struct NumaNode {
    int id = 0;
    std::vector<int> cpus;        ///< all of them, ascending
    std::optional<Bytes> memory;  ///< MemTotal
    std::optional<Bytes> free;    ///< MemFree: pages go elsewhere before the node drops its caches
    bool memory_may_be_used = true;  ///< by this process
};

/// Transparent huge pages of anonymous memory, for this process.
enum class HugePages : std::uint8_t { unknown, always, madvise, never };

/// No limit, among the limits below.
inline constexpr Bytes kUnlimited = std::numeric_limits<Bytes>::max();

/// Whatever could not be read is empty.
struct HostFacts {
    std::string cpu_model;
    std::vector<Cpu> cpus;        ///< ascending
    std::vector<NumaNode> nodes;  ///< ascending; none on a kernel without NUMA
    ControlGroupLimits limits;

    std::optional<Bytes> memory_total;      ///< MemTotal
    std::optional<Bytes> memory_available;  ///< MemAvailable
    /// A balloon or hot-plugged memory: on some virtual machines MemTotal grows as it is used.
    bool memory_may_grow = false;
    std::optional<Bytes> swap_used;
    std::optional<Bytes> commit_left;  ///< address space left where overcommit_memory is 2

    HugePages huge_pages = HugePages::unknown;
    std::optional<Bytes> locked_memory_soft, locked_memory_hard;  ///< ulimit -l
    bool locked_memory_unchecked = false;                         ///< CAP_IPC_LOCK, as root has

    int physical_cores() const;  ///< that have a CPU this process may use
    /// Nothing where there is no such node.
    const NumaNode* node(int id) const;
    /// CPUs of a node that this process may use, ascending.
    std::vector<int> cpus_of_node(int id) const;
};

/// Reads /proc and /sys below `root`; never throws for what is missing or odd there.
HostFacts read_host_facts(const std::string& root = "/");

/// Bytes of host memory that this process may come to use: MemTotal, of the nodes it may use, or
/// the control group's limit where that is smaller. Where MemTotal may grow, the limit counts even
/// if it is larger: it is what was promised. Nothing where neither is known.
std::optional<Bytes> host_memory_capacity(const HostFacts& facts);

/// Bytes resident now; nothing where the kernel does not tell.
struct ProcessMemory {
    std::optional<Bytes> anonymous;  ///< RssAnon: what the plan counts, and the heap
    std::optional<Bytes> file;       ///< RssFile: programs, libraries and mapped data, shared
    std::optional<Bytes> shared;     ///< RssShmem: shared memory and memory files
    std::optional<Bytes> peak;       ///< VmHWM: most that was resident at once, all kinds
    std::optional<Bytes> resident() const;  ///< all kinds together
};

/// Reads /proc/self/status below `root`.
ProcessMemory read_process_memory(const std::string& root = "/");

}  // namespace sluice

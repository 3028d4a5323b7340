// Is the machine set up badly for this run, and what should the user do?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/machine/host_facts.h"
#include "sim/base/units.h"

namespace sluice {

struct SetupNeeds {
    Bytes host_bytes = 0;    ///< peak of the plan's host memory
    Bytes pinned_bytes = 0;  ///< the part that is page-locked for the GPU; 0: no GPU
    int gpu_numa_node = -1;  ///< -1: not known, or no GPU
    int optimizer_threads = 1;
};

/// One sentence per problem; empty on a machine that is set up well, or if nothing is known.
std::vector<std::string> setup_warnings(const HostFacts& facts, const SetupNeeds& needs);

/// How a control group's limit of memory is raised.
inline constexpr const char* kHowToRaiseLimit =
    "docker run --memory, the memory that the job requests";

/// "the control group of this process allows 4.3 GB of the machine's 137.4 GB", if that is what
/// host_memory_capacity() gives.
std::optional<std::string> control_group_words(const HostFacts& facts);

/// A hint for a plan that does not fit into host memory: the limit of a control group, or memory
/// that grows; empty if there is neither.
std::optional<std::string> host_memory_hint(const HostFacts& facts, Bytes host_bytes);

/// Why page-locking may have failed, for that error's message; empty if the limit (ulimit -l)
/// allows it. There is no warning in advance: NVIDIA's driver pins pages without counting them
/// against the limit, so a low limit, the default of most systems, mostly does no harm.
std::optional<std::string> locked_memory_hint(const HostFacts& facts, Bytes pinned_bytes);

}  // namespace sluice

// Is the machine set up badly for this run? What is wrong, in numbers, and what to do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/machine/host_facts.h"
#include "sim/base/units.h"

namespace sluice {

struct SetupNeeds {
    Bytes host_bytes = 0;    ///< peak of the plan's host memory
    Bytes pinned_bytes = 0;  ///< of it, page-locked for the GPU; 0: no GPU
    int gpu_numa_node = -1;  ///< -1: not known, or no GPU
    int optimizer_threads = 1;
};

/// One sentence each; none on a machine that is set up well, or where nothing is known.
std::vector<std::string> setup_warnings(const HostFacts& facts, const SetupNeeds& needs);

/// What may help a plan that does not fit into host memory; nothing where memory does not grow.
std::optional<std::string> memory_growth_hint(const HostFacts& facts, Bytes host_bytes);

/// Why locking pages may have failed, for the message of that error; nothing where the limit
/// (ulimit -l) allows it. No warning in advance: NVIDIA's driver pins pages without counting them
/// against the limit, so a low one, the default of most systems, mostly does no harm.
std::optional<std::string> locked_memory_hint(const HostFacts& facts, Bytes pinned_bytes);

}  // namespace sluice

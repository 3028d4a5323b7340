// On which CPUs should the trainer's threads run, so that memory and GPU are near? Is the machine
// set up badly for this run?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/machine/host_facts.h"
#include "sim/base/units.h"

namespace sluice {

struct PlacementNeeds {
    int gpu_numa_node = -1;  ///< of the host memory nearest to the GPU; -1: not known, or no GPU
    int optimizer_threads = 1;
    int other_threads = 4;  ///< the lanes' threads and similar ones
    Bytes host_bytes = 0;   ///< bytes that the optimizer's threads touch first; 0: not known
};

struct Placement {
    /// Thread i of the optimizer is pinned to [i % size]: first one CPU per physical core, and
    /// first those near the GPU. Pages are placed where these threads first touch them. Empty: CPUs
    /// are not known.
    std::vector<int> optimizer_cpus;
    std::vector<int> other_cpus;     ///< ascending: where other threads disturb least
    std::string text;                ///< one line for the user
    std::vector<std::string> notes;  ///< one sentence for each node that is too small
};

/// Never throws: with fewer CPUs than threads, threads share CPUs.
Placement choose_placement(const HostFacts& facts, const PlacementNeeds& needs);

struct SetupNeeds {
    Bytes host_bytes = 0;    ///< peak of the plan's host memory
    Bytes pinned_bytes = 0;  ///< the part that is page-locked for the GPU; 0: no GPU
    int gpu_numa_node = -1;  ///< -1: not known, or no GPU
    int optimizer_threads = 1;
};

/// One sentence per problem; empty on a machine that is set up well, or if nothing is known.
std::vector<std::string> setup_warnings(const HostFacts& facts, const SetupNeeds& needs);

/// A hint for a plan that does not fit into host memory; empty if memory does not grow.
std::optional<std::string> memory_growth_hint(const HostFacts& facts, Bytes host_bytes);

/// Why page-locking may have failed, for that error's message; empty if the limit (ulimit -l)
/// allows it. There is no warning in advance: NVIDIA's driver pins pages without counting them
/// against the limit, so a low limit, the default of most systems, mostly does no harm.
std::optional<std::string> locked_memory_hint(const HostFacts& facts, Bytes pinned_bytes);

}  // namespace sluice

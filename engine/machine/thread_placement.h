// On which CPUs should the trainer's threads run, so that memory and GPU are near?
#pragma once

#include <string>
#include <vector>

#include "engine/machine/host_facts.h"
#include "sim/base/units.h"

namespace sluice {

struct PlacementNeeds {
    int gpu_numa_node = -1;  ///< of the host memory nearest to the GPU; -1: not known, or no GPU
    int optimizer_threads = 1;
    Bytes host_bytes = 0;  ///< bytes that the optimizer's threads touch first; 0: not known
};

struct ThreadPlacement {
    /// Thread i of the optimizer is pinned to [i % size]: first one CPU per physical core, and
    /// first those near the GPU. Pages are placed where these threads first touch them. Empty: CPUs
    /// are not known.
    std::vector<int> optimizer_cpus;
    std::vector<int> other_cpus;     ///< ascending: where other threads disturb least
    std::string text;                ///< one line for the user
    std::vector<std::string> notes;  ///< one sentence for each node that is too small
};

/// Never throws: with fewer CPUs than threads, threads share CPUs.
ThreadPlacement choose_placement(const HostFacts& facts, const PlacementNeeds& needs);

}  // namespace sluice

// How fast do the GPUs of one node, and those of several, reach each other?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/specs/machine/interpolated.h"

namespace sluice {

struct MachineProfile;

/// Rates are bus bandwidths as nccl-tests count them (doc/PERFORMANCE.md): bytes/s that each GPU
/// sends in a ring, whatever their number.
struct InterconnectSpec {
    std::int64_t gpus_per_node = 0;   ///< 0: not known
    Interpolated bus_by_gpus;         ///< by the GPUs of a node that take part; empty: not known
    double network_per_gpu = 0;       ///< of the node's network, a GPU's share; 0: not known
    std::vector<std::string> inputs;  ///< paths of the numbers that it rests on
    /// Of those numbers, said where a plan uses them: within a node, and between nodes.
    std::vector<std::string> assumptions, network_assumptions;

    bool has_network() const { return network_per_gpu > 0; }
};

/// From the sections `gpu_interconnect` and `network`. Gaps are filled by the shares of a
/// datasheet's rate that were measured elsewhere, and said in `assumptions`. Throws InputError
/// where the GPUs of a node are no whole number.
InterconnectSpec resolve_interconnect(const MachineProfile& profile);

}  // namespace sluice

// How long does a collective of several GPUs take, and how many bytes does one of them move?
#pragma once

#include <cstdint>

#include "sim/base/units.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {

enum class Collective : std::uint8_t { none, all_gather, reduce_scatter, all_reduce };

/// The GPUs that take part: `gpus`, in nodes of `per_node`. Precondition: gpus is at most per_node,
/// or a multiple of it.
struct GpuGroup {
    std::int64_t gpus = 1;
    std::int64_t per_node = 1;

    std::int64_t nodes() const { return gpus <= per_node ? 1 : gpus / per_node; }
    std::int64_t in_a_node() const { return gpus / nodes(); }
};

/// Bytes that one GPU sends in a ring: size (n - 1) / n, and twice that for an all-reduce, which is
/// a reduce-scatter and an all-gather (Thakur, Rabenseifner, Gropp 2005, Optimization of Collective
/// Communication Operations in MPICH; nccl-tests doc/PERFORMANCE.md). `size` is the whole array
/// that they hold or gather.
double ring_bytes(Collective collective, double size, std::int64_t gpus);

/// Bytes of device memory that one GPU reads and writes in a ring: it writes what it receives, and
/// reads that again to pass it on. A reduction also reads its own part.
double ring_memory_traffic(Collective collective, double size, std::int64_t gpus);

/// Bytes/s that each GPU sends. Limits: the node's links in a ring, and the node's network, since a
/// ring enters and leaves each node once per adapter. Precondition: bus_by_gpus is known, and the
/// network if there are several nodes.
double ring_bandwidth(const InterconnectSpec& interconnect, const GpuGroup& group);

/// Seconds of `messages` collectives with `size` bytes in all. Latency and algorithm follow NCCL's
/// own model (2.30.7, src/graph/tuning.cc, protocol Simple). A ring takes 8.4 us, and for each of
/// its n - 1 steps (2 (n - 1) for an all-reduce) 3.4 us within a node, 14 us between nodes. An
/// all-reduce uses a tree where that is faster: 0.92 of the bandwidth, every byte up and down, 8.4
/// us, twice 4 us for each GPU of a node beyond the first, and 14 us for each halving of the nodes.
/// NVLink SHARP and in-network reduction are not used.
Seconds collective_time(const InterconnectSpec& interconnect, const GpuGroup& group,
                        Collective collective, double size, std::int64_t messages = 1);

}  // namespace sluice

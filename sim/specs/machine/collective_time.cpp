#include "sim/specs/machine/collective_time.h"

#include <algorithm>
#include <bit>

namespace sluice {
namespace {

constexpr Seconds kBase = 8.4e-6;
constexpr Seconds kRingStep = 3.4e-6, kTreeStep = 4.0e-6, kNetworkStep = 14.0e-6;
constexpr double kTreeShare = 0.92;

double share_of_others(std::int64_t gpus) {
    return static_cast<double>(gpus - 1) / static_cast<double>(gpus);
}

/// An all-reduce consists of two of the others.
double rounds(Collective collective) { return collective == Collective::all_reduce ? 2 : 1; }

Seconds ring_time(const InterconnectSpec& interconnect, const GpuGroup& group,
                  Collective collective, double size, double messages) {
    const auto steps = static_cast<double>(group.gpus - 1);
    const auto between = static_cast<double>(group.nodes() - 1);
    const Seconds latency =
        kBase + rounds(collective) * ((steps - between) * kRingStep + between * kNetworkStep);
    return messages * latency +
           ring_bytes(collective, size, group.gpus) / ring_bandwidth(interconnect, group);
}

Seconds tree_time(const InterconnectSpec& interconnect, const GpuGroup& group, double size,
                  double messages) {
    const auto halvings =
        static_cast<double>(std::bit_width(static_cast<std::uint64_t>(group.nodes())) - 1);
    const Seconds latency = kBase + 2 * (static_cast<double>(group.in_a_node() - 1) * kTreeStep +
                                         halvings * kNetworkStep);
    return messages * latency + 2 * size / (kTreeShare * ring_bandwidth(interconnect, group));
}

}  // namespace

double ring_bytes(Collective collective, double size, std::int64_t gpus) {
    return rounds(collective) * size * share_of_others(gpus);
}

double ring_memory_traffic(Collective collective, double size, std::int64_t gpus) {
    const double share = share_of_others(gpus);
    double traffic = 0;
    if (collective == Collective::all_gather || collective == Collective::all_reduce)
        traffic += 2 * size * share;
    if (collective == Collective::reduce_scatter || collective == Collective::all_reduce)
        traffic += 3 * size * share;
    return traffic;
}

double ring_bandwidth(const InterconnectSpec& interconnect, const GpuGroup& group) {
    const auto in_a_node = static_cast<double>(group.in_a_node());
    const double network = interconnect.network_per_gpu * in_a_node;
    if (group.nodes() > 1 && group.in_a_node() == 1) return network;
    const double links = interconnect.bus_by_gpus.at(in_a_node);
    return group.nodes() == 1 ? links : std::min(links, network);
}

Seconds collective_time(const InterconnectSpec& interconnect, const GpuGroup& group,
                        Collective collective, double size, std::int64_t messages) {
    if (group.gpus == 1 || collective == Collective::none) return 0;
    const auto count = static_cast<double>(messages);
    const Seconds ring = ring_time(interconnect, group, collective, size, count);
    if (collective != Collective::all_reduce) return ring;
    return std::min(ring, tree_time(interconnect, group, size, count));
}

}  // namespace sluice

#include "engine/train/host_setup.h"

#include <fmt/format.h>

#include <cstdio>

#include "engine/machine/setup_warnings.h"

namespace sluice {

Placement place_threads(const HostFacts& host_facts, const DeviceFacts& device,
                        const Peak& host_peak, int optimizer_threads) {
    const Bytes host_bytes = host_peak.bytes;
    constexpr int kOtherThreads = 4;  // lanes and the main one; they mostly sleep
    Placement placement = choose_placement(
        host_facts, {device.numa_node, optimizer_threads, kOtherThreads, host_bytes});
    fmt::print("{}\n", placement.text);
    SetupNeeds needs{host_bytes, 0, device.numa_node, optimizer_threads};
    for (const MemoryKind kind : {MemoryKind::weights, MemoryKind::pinned_buffers})
        if (device.is_gpu) needs.pinned_bytes += host_peak.by_kind[static_cast<std::size_t>(kind)];
    for (const std::string& note : placement.notes) fmt::print("note: {}\n", note);
    for (const std::string& warning : setup_warnings(host_facts, needs))
        fmt::print("warning: {}\n", warning);
    std::fflush(stdout);
    return placement;
}

}  // namespace sluice

#include "engine/train/host_setup.h"

#include <fmt/format.h>

#include <cstdio>

#include "engine/machine/setup_warnings.h"

namespace sluice {

Placement place_threads(const HostFacts& host_facts, const DeviceFacts& device,
                        const StepReport& report) {
    const Bytes host_bytes = report.fit.host.peak.bytes;
    const int threads = static_cast<int>(report.training.optimizer_threads);
    constexpr int kOtherThreads = 4;  // lanes and the main one; they mostly sleep
    Placement placement =
        choose_placement(host_facts, {device.numa_node, threads, kOtherThreads, host_bytes});
    fmt::print("{}\n", placement.text);
    const BytesByKind& host = report.fit.host.peak.by_kind;
    SetupNeeds needs{host_bytes, 0, device.numa_node, threads};
    for (const MemoryKind kind : {MemoryKind::weights, MemoryKind::pinned_buffers})
        if (device.is_gpu) needs.pinned_bytes += host[static_cast<std::size_t>(kind)];
    for (const std::string& note : placement.notes) fmt::print("note: {}\n", note);
    for (const std::string& warning : setup_warnings(host_facts, needs))
        fmt::print("warning: {}\n", warning);
    std::fflush(stdout);
    return placement;
}

}  // namespace sluice

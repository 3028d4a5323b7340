// How near is each NUMA node to the device and to its own memory?
#include <algorithm>

#include "calibrate/cases/bench.h"
#include "calibrate/cases/case_host.h"
#include "calibrate/cases/load_window.h"
#include "engine/memory/host_region.h"

namespace sluice {
namespace {

constexpr Bytes kChunk = 64 * kMiB;
constexpr Bytes kCopied = 4 * kChunk;  ///< each way

/// Nodes with memory and CPUs that this process may use.
std::vector<int> usable_nodes(const HostFacts& host) {
    std::vector<int> nodes;
    for (const NumaNode& node : host.nodes)
        if (node.memory_may_be_used && !host.cpus_of_node(node.id).empty())
            nodes.push_back(node.id);
    return nodes;
}

/// One CPU a core.
std::vector<int> cores_of_node(const HostFacts& host, int node) {
    std::vector<int> cpus, cores;
    for (const Cpu& cpu : host.cpus) {
        if (cpu.node != node || std::find(cores.begin(), cores.end(), cpu.core) != cores.end())
            continue;
        cpus.push_back(cpu.id);
        cores.push_back(cpu.core);
    }
    return cpus;
}

/// Memory touched by, and threads pinned to, the CPUs of one node.
LoadRates measure_node(const Bench& bench, const std::vector<int>& cpus) {
    const int threads = std::min(bench.optimizer_threads, static_cast<int>(cpus.size()));
    OptimizerLoad optimizer(bench);
    optimizer.set(12, threads, cpus);
    const Bytes most = std::min(bench.arena_bytes, host_memory_budget(bench.host) / 4) / 2;
    const Bytes bytes = std::clamp(most / kChunk * kChunk, kChunk, kCopied);
    const HostRegion host(2 * bytes, "copies to measure", optimizer.pool(), &bench.device);
    fill_normal(optimizer.pool(), host.at<std::uint16_t>(0), host.bytes() / kBf16, 1, 5);
    Loads loads;
    loads.in = {host.data(), bench.at(0, bytes), bytes, kChunk};
    loads.out = {host.data() + bytes, bench.at(bytes, bytes), bytes, kChunk};
    loads.optimizer = &optimizer;
    const Seconds window = bench.quick ? 0.05 : 0.15;
    const auto rates = [&](LoadSet set) {
        return run_loads(bench.device, loads, set, 0.05, window);
    };
    LoadRates out;
    // New threads inherit these CPUs, so that copies by the CPU also run on the node.
    ThreadPool on_node(1, {cpus.front()});
    on_node.parallel_for(1, 1, [&](std::int64_t, std::int64_t) {
        bench.device.attach_thread();
        out.in_bytes = rates({.in = true}).in_bytes;
        out.out_bytes = rates({.out = true}).out_bytes;
        out.parameters = rates({.work = true}).parameters;
    });
    return out;
}

}  // namespace

void measure_numa(Bench& bench, CaseRecord& record) {
    const std::vector<int> nodes = usable_nodes(bench.host);
    if (nodes.size() < 2) return;  // with one node the other cases tell everything
    CaseTable table{.name = "numa",
                    .method =
                        "memory touched by threads of the node, Adam (12 bytes of state) on its "
                        "cores, copies each way alone, one window each",
                    .columns = {"node", "in_gb_per_s", "out_gb_per_s", "adam_gparams_per_s"}};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const LoadRates rates = measure_node(bench, cores_of_node(bench.host, nodes[i]));
        table.add({static_cast<double>(nodes[i]), rates.in_bytes / kGiga, rates.out_bytes / kGiga,
                   rates.parameters / kGiga});
        bench.report(i + 1, nodes.size());
    }
    record.tables.push_back(std::move(table));
}

}  // namespace sluice

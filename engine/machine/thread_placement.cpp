#include "engine/machine/thread_placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "engine/machine/system_files.h"
#include "sim/base/format.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {
namespace {

class Placing {
  public:
    Placing(const HostFacts& facts, const PlacementNeeds& needs)
        : facts_(facts), needs_(needs), home_(home_node()) {}

    ThreadPlacement place() {
        place_optimizer();
        place_others();
        describe();
        note_small_nodes();
        return std::move(placement_);
    }

  private:
    /// The GPU's node, or the one with the most CPUs if that is not known or not allowed.
    int home_node() const {
        std::map<int, int> cpus;
        for (const Cpu& cpu : facts_.cpus) ++cpus[cpu.node];
        if (needs_.gpu_numa_node >= 0 && cpus.count(needs_.gpu_numa_node) > 0)
            return needs_.gpu_numa_node;
        const auto most =
            std::max_element(cpus.begin(), cpus.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
        return most == cpus.end() ? -1 : most->first;
    }

    /// Cores of the home node, then cores of other nodes, whose memory adds bandwidth, then second
    /// CPUs of cores in use: host work waits for memory, and both CPUs of a core share its buffers
    /// for outstanding reads.
    void place_optimizer() {
        std::set<int> cores;
        std::vector<std::tuple<bool, bool, int, int>> order;
        for (const Cpu& cpu : facts_.cpus) {
            const bool second = !cores.insert(cpu.core).second;
            order.emplace_back(second, cpu.node != home_, cpu.node, cpu.id);
        }
        std::sort(order.begin(), order.end());
        const auto threads = static_cast<std::size_t>(std::max(1, needs_.optimizer_threads));
        for (std::size_t i = 0; i < std::min(threads, order.size()); ++i)
            placement_.optimizer_cpus.push_back(std::get<3>(order[i]));
    }

    /// CPUs that the optimizer leaves free, near the GPU if there are enough. The lanes' threads
    /// mostly sleep, so the second CPU of a core is enough. With too few, all CPUs, since the
    /// scheduler knows which one is idle.
    void place_others() {
        const std::set<int> taken(placement_.optimizer_cpus.begin(),
                                  placement_.optimizer_cpus.end());
        std::vector<int> near, free, all;
        for (const Cpu& cpu : facts_.cpus) {
            all.push_back(cpu.id);
            if (taken.count(cpu.id) > 0) continue;
            free.push_back(cpu.id);
            if (cpu.node == home_) near.push_back(cpu.id);
        }
        for (std::vector<int>* choice : {&near, &free, &all}) {
            placement_.other_cpus = std::move(*choice);
            if (std::ssize(placement_.other_cpus) >= kCpusForLanes) return;
        }
    }

    std::string cpus_by_node(std::vector<int> cpus) const {
        std::sort(cpus.begin(), cpus.end());
        std::map<int, std::vector<int>> by_node;
        for (const Cpu& cpu : facts_.cpus)
            if (std::binary_search(cpus.begin(), cpus.end(), cpu.id))
                by_node[cpu.node].push_back(cpu.id);
        std::string text;
        for (const auto& [node, ids] : by_node) {
            text += fmt::format("{}{} {}", text.empty() ? "" : " and ",
                                ids.size() == 1 ? "CPU" : "CPUs", format_id_list(ids));
            if (node >= 0) text += fmt::format(" of node {}", node);
            if (node >= 0 && node == needs_.gpu_numa_node) text += " (the GPU's)";
        }
        return text;
    }

    void describe() {
        const int threads = std::max(1, needs_.optimizer_threads);
        const char* plural = threads == 1 ? "" : "s";
        if (facts_.cpus.empty()) {
            placement_.text = fmt::format(
                "optimizer: {} thread{}, not pinned: the system does not report its CPUs", threads,
                plural);
            return;
        }
        placement_.text = fmt::format("optimizer: {} thread{} on {}; best for others: {}", threads,
                                      plural, cpus_by_node(placement_.optimizer_cpus),
                                      cpus_by_node(placement_.other_cpus));
    }

    /// Each thread touches about its share of the pages.
    void note_small_nodes() {
        std::map<int, int> threads;
        for (const Cpu& cpu : facts_.cpus)
            threads[cpu.node] += static_cast<int>(std::count(
                placement_.optimizer_cpus.begin(), placement_.optimizer_cpus.end(), cpu.id));
        if (facts_.nodes.size() < 2) return;
        for (const auto& [id, count] : threads) {
            const NumaNode* node = facts_.node(id);
            if (node == nullptr || !node->free || count == 0) continue;
            const double share =
                static_cast<double>(count) / static_cast<double>(placement_.optimizer_cpus.size());
            const double wanted = share * static_cast<double>(needs_.host_bytes);
            const auto free = static_cast<double>(*node->free);
            if (wanted <= free) continue;
            placement_.notes.push_back(fmt::format(
                "host memory: {} should lie on node {}, which has {} free: {} will lie on other "
                "nodes and be read through the link between them; free memory on that node, or "
                "drop the caches of files (sysctl vm.drop_caches=1)",
                format_bytes(wanted), id, format_bytes(free), format_bytes(wanted - free)));
        }
    }

    const HostFacts& facts_;
    const PlacementNeeds& needs_;
    const int home_;
    ThreadPlacement placement_;
};

}  // namespace

ThreadPlacement choose_placement(const HostFacts& facts, const PlacementNeeds& needs) {
    return Placing(facts, needs).place();
}

}  // namespace sluice

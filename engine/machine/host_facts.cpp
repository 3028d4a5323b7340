#include "engine/machine/host_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string_view>

#include "engine/machine/system_files.h"

namespace sluice {
namespace {

constexpr unsigned kCapIpcLock = 14;  // linux/capability.h
constexpr std::string_view kInstructionSets[] = {"amx_bf16", "asimd",    "avx2",    "avx512_bf16",
                                                 "avx512bw", "avx512dq", "avx512f", "avx512vl",
                                                 "bf16",     "fma",      "sve",     "sve2"};

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> out;
    for (std::size_t end; !text.empty(); text.remove_prefix(std::min(text.size(), end + 1))) {
        end = std::min(text.find_first_of(" \t\n"), text.size());
        if (end > 0) out.emplace_back(text.substr(0, end));
    }
    return out;
}

class Reader {
  public:
    explicit Reader(const std::string& root) : files_(root) {}

    HostFacts read() {
        status_ = files_.text("proc/self/status");
        facts_.limits = read_control_group_limits(files_);
        processor();
        nodes();
        cpus();
        memory();
        huge_pages();
        locked_memory();
        return std::move(facts_);
    }

  private:
    void processor() {
        const std::string text = files_.text("proc/cpuinfo");
        facts_.cpu_model = name_in(text);
        auto flags = field(text, "flags");            // x86
        if (!flags) flags = field(text, "Features");  // Arm
        const std::vector<std::string> has = words(flags.value_or(""));
        for (const std::string_view set : kInstructionSets)
            if (std::find(has.begin(), has.end(), set) != has.end())
                facts_.instruction_sets.emplace_back(set);
    }

    /// "model name\t: X" on x86; Arm has numbers only.
    static std::string name_in(std::string_view cpuinfo) {
        std::string_view name = field(cpuinfo, "model name").value_or("");
        name.remove_prefix(std::min(name.find_first_not_of(": \t"), name.size()));
        return std::string(name);
    }

    void nodes() {
        const auto allowed = parse_id_list(field(status_, "Mems_allowed_list:").value_or(""));
        const std::string base = "sys/devices/system/node";
        for (const std::string& name : files_.names(base)) {
            const auto id = name.starts_with("node") ? parse_id_list(name.substr(4)) : std::nullopt;
            if (!id || id->size() != 1) continue;
            NumaNode node;
            node.id = id->front();
            const std::string folder = fmt::format("{}/{}", base, name);
            node.cpus = parse_id_list(files_.text(folder + "/cpulist")).value_or(node.cpus);
            const std::string memory = files_.text(folder + "/meminfo");
            node.memory = kilobyte_field(memory, fmt::format("Node {} MemTotal:", node.id));
            node.free = kilobyte_field(memory, fmt::format("Node {} MemFree:", node.id));
            if (allowed && !allowed->empty())
                node.memory_may_be_used =
                    std::binary_search(allowed->begin(), allowed->end(), node.id);
            facts_.nodes.push_back(std::move(node));
        }
        std::sort(facts_.nodes.begin(), facts_.nodes.end(),
                  [](const NumaNode& a, const NumaNode& b) { return a.id < b.id; });
    }

    void cpus() {
        for (const int id : cpu_ids()) {
            Cpu cpu{id, id, -1};
            const auto siblings = parse_id_list(files_.text(
                fmt::format("sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", id)));
            if (siblings && !siblings->empty()) cpu.core = siblings->front();
            for (const NumaNode& node : facts_.nodes)
                if (std::binary_search(node.cpus.begin(), node.cpus.end(), id)) cpu.node = node.id;
            facts_.cpus.push_back(cpu);
        }
    }

    /// What sched_getaffinity() gives: those allowed that are online.
    std::vector<int> cpu_ids() const {
        const auto allowed = parse_id_list(field(status_, "Cpus_allowed_list:").value_or(""));
        const auto online = parse_id_list(files_.text("sys/devices/system/cpu/online"));
        const bool allowed_known = allowed && !allowed->empty();
        const bool online_known = online && !online->empty();
        if (!allowed_known) return online_known ? *online : std::vector<int>{};
        if (!online_known) return *allowed;
        std::vector<int> both;
        std::set_intersection(allowed->begin(), allowed->end(), online->begin(), online->end(),
                              std::back_inserter(both));
        return both;
    }

    void memory() {
        const std::string text = files_.text("proc/meminfo");
        facts_.memory_total = kilobyte_field(text, "MemTotal:");
        facts_.memory_available = kilobyte_field(text, "MemAvailable:");
        const auto swap = kilobyte_field(text, "SwapTotal:");
        const auto swap_free = kilobyte_field(text, "SwapFree:");
        if (swap && swap_free) facts_.swap_used = std::max<Bytes>(0, *swap - *swap_free);
        const auto limit = kilobyte_field(text, "CommitLimit:");
        const auto committed = kilobyte_field(text, "Committed_AS:");
        if (files_.integer("proc/sys/vm/overcommit_memory") == 2 && limit && committed)
            facts_.commit_left = std::max<Bytes>(0, *limit - *committed);
        const std::string devices = "sys/bus/virtio/devices";
        for (const std::string& name : files_.names(devices)) {
            const std::string kind = files_.text(devices + "/" + name + "/device");
            // The virtio standard's numbers: 5 is a memory balloon, 24 is hot-plugged memory.
            facts_.memory_may_grow |= kind.starts_with("0x0005") || kind.starts_with("0x0018");
        }
    }

    void huge_pages() {
        const std::string text = files_.text("sys/kernel/mm/transparent_hugepage/enabled");
        if (text.find("[always]") != text.npos) facts_.huge_pages = HugePages::always;
        if (text.find("[madvise]") != text.npos) facts_.huge_pages = HugePages::madvise;
        // 0: switched off for this process alone (prctl PR_SET_THP_DISABLE).
        if (text.find("[never]") != text.npos || field(status_, "THP_enabled:") == "0")
            facts_.huge_pages = HugePages::never;
    }

    void locked_memory() {
        const std::string text = files_.text("proc/self/limits");
        const auto columns = words(field(text, "Max locked memory").value_or(""));
        const auto limit = [&](std::size_t column) -> std::optional<Bytes> {
            if (column >= columns.size()) return std::nullopt;
            return columns[column] == "unlimited" ? kUnlimited : parse_integer(columns[column]);
        };
        facts_.locked_memory_soft = limit(0);
        facts_.locked_memory_hard = limit(1);
        const std::string capabilities(field(status_, "CapEff:").value_or(""));
        facts_.locked_memory_unchecked =
            (std::strtoull(capabilities.c_str(), nullptr, 16) >> kCapIpcLock & 1U) != 0;
    }

    SystemFiles files_;
    std::string status_;
    HostFacts facts_;
};

}  // namespace

int HostFacts::physical_cores() const {
    std::set<int> cores;
    for (const Cpu& cpu : cpus) cores.insert(cpu.core);
    return static_cast<int>(cores.size());
}

const NumaNode* HostFacts::node(int id) const {
    for (const NumaNode& candidate : nodes)
        if (candidate.id == id) return &candidate;
    return nullptr;
}

std::vector<int> HostFacts::cpus_of_node(int id) const {
    std::vector<int> ids;
    for (const Cpu& cpu : cpus)
        if (cpu.node == id) ids.push_back(cpu.id);
    return ids;
}

HostFacts read_host_facts(const std::string& root) { return Reader(root).read(); }

std::optional<Bytes> host_memory_capacity(const HostFacts& facts) {
    std::optional<Bytes> there = facts.memory_total;
    Bytes closed = 0;  // on nodes that this process may not use
    for (const NumaNode& node : facts.nodes)
        if (!node.memory_may_be_used) closed += node.memory.value_or(0);
    if (there) *there = std::max<Bytes>(0, *there - closed);
    const std::optional<Bytes>& limit = facts.limits.memory;
    if (!limit) return there;
    return there && !facts.memory_may_grow ? std::min(*there, *limit) : *limit;
}

}  // namespace sluice

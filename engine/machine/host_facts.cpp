// Without libhwloc: it knows cores and nodes but none of the limits below, and the bundle for GPU
// machines without a network has headers but no compiled libraries.
#include "engine/machine/host_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>

namespace sluice {
namespace {

/// Version 1 writes "no limit" as the largest number of pages.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

/// Path of the process's group for the named controllers: "0::/job" is for version 2, where
/// `controller` is "".
std::string group_path(const std::string& groups, const std::string& controller) {
    std::istringstream lines(groups);
    std::string number, names, path;
    while (std::getline(lines, number, ':') && std::getline(lines, names, ':') &&
           std::getline(lines, path)) {
        const bool found = controller.empty()
                               ? names.empty()
                               : ("," + names + ",").find("," + controller + ",") != names.npos;
        if (found) return path;
    }
    return "/";
}

/// Folders of the group and of all groups around it up to the mount. Within a container the path
/// may be the one outside, which does not exist here; the mount is then the container's own group.
std::vector<std::string> folders_of(const std::string& mount, std::string path) {
    std::vector<std::string> folders;
    if (path.find("..") != std::string::npos) path.clear();
    while (path.size() > 1) {
        folders.push_back(mount + path);
        path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
    folders.push_back(mount);
    return folders;
}

template <typename T>
void tighten(std::optional<T>& limit, T found) {
    limit = limit ? std::min(*limit, found) : found;
}

/// `used`: by the group. `statistics`: a file with its parts; with `prefix`, active_file and
/// inactive_file are its page cache, which the kernel drops for others.
void tighten_memory(ControlGroupLimits& limits, std::optional<std::int64_t> bytes,
                    std::optional<std::int64_t> used, const std::string& statistics,
                    const std::string& prefix) {
    if (!bytes || *bytes <= 0 || *bytes >= kNoLimit) return;
    tighten(limits.memory, Bytes{*bytes});
    if (!used) return;
    Bytes held = *used;
    for (const char* cached : {"inactive_file", "active_file"})
        held -= parse_integer(field(statistics, prefix + cached).value_or("")).value_or(0);
    tighten(limits.memory_available, std::clamp<Bytes>(*bytes - held, 0, *bytes));
}

void tighten_cpus(ControlGroupLimits& limits, std::optional<std::int64_t> quota,
                  std::optional<std::int64_t> period) {
    if (quota && period && *quota > 0 && *period > 0)
        tighten(limits.cpus, static_cast<double>(*quota) / static_cast<double>(*period));
}

void read_version_2(const SystemFiles& files, const std::string& folder,
                    ControlGroupLimits& limits) {
    // Above `high` the kernel reclaims pages and slows the process down, so training cannot use
    // that memory.
    for (const char* limit : {"/memory.max", "/memory.high"})
        tighten_memory(limits, files.integer(folder + limit),
                       files.integer(folder + "/memory.current"),
                       files.text(folder + "/memory.stat"), "");
    const std::string cpu = files.text(folder + "/cpu.max");  // "200000 100000", or "max 100000"
    const std::size_t blank = cpu.find(' ');
    if (blank != std::string::npos)
        tighten_cpus(limits, parse_integer(std::string_view(cpu).substr(0, blank)),
                     parse_integer(std::string_view(cpu).substr(blank)));
}

}  // namespace

ControlGroupLimits read_control_group_limits(const SystemFiles& files) {
    const std::string groups = files.text("proc/self/cgroup");
    ControlGroupLimits limits;
    for (const char* mount : {"sys/fs/cgroup", "sys/fs/cgroup/unified"})
        for (const std::string& folder : folders_of(mount, group_path(groups, "")))
            read_version_2(files, folder, limits);
    for (const std::string& folder :
         folders_of("sys/fs/cgroup/memory", group_path(groups, "memory")))
        tighten_memory(limits, files.integer(folder + "/memory.limit_in_bytes"),
                       files.integer(folder + "/memory.usage_in_bytes"),
                       files.text(folder + "/memory.stat"), "total_");
    for (const char* mount :
         {"sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct", "sys/fs/cgroup/cpuacct,cpu"})
        for (const std::string& folder : folders_of(mount, group_path(groups, "cpu")))
            tighten_cpus(limits, files.integer(folder + "/cpu.cfs_quota_us"),
                         files.integer(folder + "/cpu.cfs_period_us"));
    return limits;
}

namespace {

constexpr unsigned kCapIpcLock = 14;  // linux/capability.h

class Reader {
  public:
    explicit Reader(const std::string& root) : files_(root) {}

    HostFacts read() {
        status_ = files_.text("proc/self/status");
        facts_.limits = read_control_group_limits(files_);
        facts_.cpu_model = cpu_model(files_.text("proc/cpuinfo"));
        nodes();
        cpus();
        memory();
        huge_pages();
        locked_memory();
        return std::move(facts_);
    }

  private:
    /// "model name\t: X" on x86; Arm has numbers only.
    static std::string cpu_model(std::string_view cpuinfo) {
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

    /// The same as sched_getaffinity() gives: allowed CPUs that are online.
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
        if (facts_.limits.memory_available)
            tighten(facts_.memory_available, *facts_.limits.memory_available);
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
        // 0: switched off for this process only (prctl PR_SET_THP_DISABLE).
        if (text.find("[never]") != text.npos || field(status_, "THP_enabled:") == "0")
            facts_.huge_pages = HugePages::never;
    }

    void locked_memory() {
        const std::string text = files_.text("proc/self/limits");
        std::istringstream columns{std::string(field(text, "Max locked memory").value_or(""))};
        for (auto* limit : {&facts_.locked_memory_soft, &facts_.locked_memory_hard}) {
            std::string column;
            columns >> column;
            *limit = column == "unlimited" ? kUnlimited : parse_integer(column);
        }
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

std::optional<Bytes> ProcessMemory::resident() const {
    if (!anonymous || !file || !shared) return std::nullopt;
    return *anonymous + *file + *shared;
}

ProcessMemory read_process_memory(const std::string& root) {
    const std::string text = SystemFiles(root).text("proc/self/status");
    return {kilobyte_field(text, "RssAnon:"), kilobyte_field(text, "RssFile:"),
            kilobyte_field(text, "RssShmem:"), kilobyte_field(text, "VmHWM:")};
}

}  // namespace sluice

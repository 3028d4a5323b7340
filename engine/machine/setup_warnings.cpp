#include "engine/machine/setup_warnings.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/machine/system_files.h"
#include "sim/base/format.h"

namespace sluice {
namespace {

/// Idle pages of other programs move to swap on any machine; more than this means that memory was
/// short.
constexpr Bytes kOrdinarySwap = Bytes{1} << 30;

/// Page faults at the start of a run: 16 threads touched 4 KiB pages at 32.3 and 33.4 GB/s and huge
/// ones at 68.6 to 83.6 GB/s (hwprofiles/measurements/h200-pytorch.json, memory that
/// the machine had used before).
constexpr double kSmallPageTouch = 33e9;
constexpr double kHugePageTouch = 75e9;

std::string shown(Bytes bytes) { return format_bytes(static_cast<double>(bytes)); }

class Judge {
  public:
    Judge(const HostFacts& facts, const SetupNeeds& needs) : facts_(facts), needs_(needs) {}

    std::vector<std::string> judge() {
        memory_size();
        memory_of_others();
        address_space();
        swap();
        huge_pages();
        nodes();
        threads();
        cpu_quota();
        return std::move(warnings_);
    }

  private:
    template <typename... T>
    void warn(fmt::format_string<T...> format, T&&... arguments) {
        warnings_.push_back(fmt::format(format, std::forward<T>(arguments)...));
    }

    /// A plan that does not fit was refused before; this one fits the size that the user gave.
    void memory_size() {
        const auto capacity = host_memory_capacity(facts_);
        if (capacity && *capacity < needs_.host_bytes && !facts_.memory_may_grow)
            warn(
                "host memory: the run needs {}, this machine has {}, and beyond that the kernel "
                "swaps or kills the run; give --host-memory with that size or less",
                shown(needs_.host_bytes), shown(*capacity));
    }

    void memory_of_others() {
        const auto capacity = host_memory_capacity(facts_);
        const auto available = facts_.memory_available;
        const bool fits = capacity && *capacity >= needs_.host_bytes;
        // If memory grows, available memory grows with it.
        if (!fits || !available || *available >= needs_.host_bytes || facts_.memory_may_grow)
            return;
        warn(
            "host memory: the run needs {}, of {} only {} are available, the rest is used by "
            "others; stop them (ps --sort=-rss -eo pid,rss,comm), or the kernel swaps or kills the "
            "run",
            shown(needs_.host_bytes), shown(*capacity), shown(*available));
    }

    void address_space() {
        if (!facts_.commit_left || *facts_.commit_left >= needs_.host_bytes) return;
        warn(
            "host memory: vm.overcommit_memory is 2 and leaves {} to map, the run maps {}: mapping "
            "will fail; sysctl vm.overcommit_memory=0",
            shown(*facts_.commit_left), shown(needs_.host_bytes));
    }

    void swap() {
        if (facts_.swap_used.value_or(0) <= kOrdinarySwap) return;
        warn(
            "swap: {} are swapped out, so memory was short before this run; stop what uses it, or "
            "pages of the run may follow (swapoff -a keeps them in memory)",
            shown(*facts_.swap_used));
    }

    void huge_pages() {
        if (facts_.huge_pages != HugePages::never || needs_.host_bytes == 0) return;
        const auto bytes = static_cast<double>(needs_.host_bytes);
        const std::string page_lock =
            needs_.pinned_bytes == 0
                ? ""
                : fmt::format(", are page-locked one by one ({})", shown(needs_.pinned_bytes));
        warn(
            "huge pages are off (never): {} lie in pages of 4 KiB, which take longer to touch "
            "({} instead of {} at the rates of 16 threads on the H200 machine){} and miss the TLB "
            "more often; echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
            shown(needs_.host_bytes), format_seconds(bytes / kSmallPageTouch),
            format_seconds(bytes / kHugePageTouch), page_lock);
    }

    void nodes() {
        const NumaNode* node = facts_.node(needs_.gpu_numa_node);
        if (node == nullptr || facts_.nodes.size() < 2) return;
        if (!facts_.cpus.empty() && !node->cpus.empty() && facts_.cpus_of_node(node->id).empty())
            warn(
                "threads: the process may not use any CPU of node {}, the GPU's, so pages and "
                "threads lie on another and all copies cross the link between nodes; start it with "
                "numactl --cpunodebind={} or allow CPUs {}",
                node->id, node->id, format_id_list(node->cpus));
        if (!node->memory_may_be_used)
            warn(
                "host memory: the process may not use memory of node {}, the GPU's, so all copies "
                "cross the link between nodes; start it with numactl --membind={} or allow that "
                "node in its cpuset",
                node->id, node->id);
    }

    void threads() {
        const int cpus = static_cast<int>(facts_.cpus.size());
        if (cpus == 0 || needs_.optimizer_threads <= cpus) return;
        warn(
            "threads: {} of the optimizer share {} CPUs, where more threads than CPUs only wait "
            "for each other; give --optimizer-threads {} or allow the process more CPUs (taskset)",
            needs_.optimizer_threads, cpus, cpus);
    }

    void cpu_quota() {
        const auto quota = facts_.limits.cpus;
        if (!quota || *quota >= needs_.optimizer_threads) return;
        warn(
            "CPU quota: the control group gives the time of {:.1f} CPUs to {} optimizer threads, "
            "which will be stopped in every period; raise it (docker run --cpus) or give "
            "--optimizer-threads {}",
            *quota, needs_.optimizer_threads, std::max(1, static_cast<int>(*quota)));
    }

    const HostFacts& facts_;
    const SetupNeeds& needs_;
    std::vector<std::string> warnings_;
};

}  // namespace

std::vector<std::string> setup_warnings(const HostFacts& facts, const SetupNeeds& needs) {
    return Judge(facts, needs).judge();
}

std::optional<std::string> control_group_words(const HostFacts& facts) {
    const auto limit = facts.limits.memory;
    if (!limit || host_memory_capacity(facts) != limit) return std::nullopt;
    const Bytes whole = facts.memory_total.value_or(0);
    return fmt::format("the control group of this process allows {}{}", shown(*limit),
                       whole > *limit ? fmt::format(" of the machine's {}", shown(whole)) : "");
}

std::optional<std::string> host_memory_hint(const HostFacts& facts, Bytes host_bytes) {
    const auto capacity = host_memory_capacity(facts);
    if (const auto words = control_group_words(facts); words && *capacity < host_bytes)
        return fmt::format(
            "host memory: {}, and the kernel kills or slows down a process that takes more; raise "
            "the limit ({})",
            *words, kHowToRaiseLimit);
    if (!facts.memory_may_grow || !capacity || *capacity >= host_bytes) return std::nullopt;
    return fmt::format(
        "host memory: this virtual machine shows {}, which may grow as memory is used; give "
        "--host-memory with the size that was promised",
        shown(*capacity));
}

std::optional<std::string> locked_memory_hint(const HostFacts& facts, Bytes pinned_bytes) {
    const auto soft = facts.locked_memory_soft;
    if (facts.locked_memory_unchecked || !soft || *soft >= pinned_bytes) return std::nullopt;
    const Bytes hard = facts.locked_memory_hard.value_or(*soft);
    if (hard >= pinned_bytes)
        return fmt::format(
            "locked memory: the run page-locks {}, the limit is {}; raise it with ulimit -l "
            "unlimited",
            shown(pinned_bytes), shown(*soft));
    return fmt::format(
        "locked memory: the run page-locks {}, the limit is {} and may be raised to {} only; raise "
        "memlock in /etc/security/limits.conf, or start the container with --ulimit memlock=-1",
        shown(pinned_bytes), shown(*soft), shown(hard));
}

}  // namespace sluice

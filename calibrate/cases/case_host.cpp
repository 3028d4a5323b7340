#include "calibrate/cases/case_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/machine/system_files.h"
#include "engine/machine/thread_placement.h"
#include "engine/optimizer/adamw.h"
#include "sim/base/mixed_bits.h"

namespace sluice {
namespace {

constexpr double kMostHostBytes = 24e9;
constexpr double kMostHostShare = 0.25;
constexpr double kHostBytesIfUnknown = 1e9;

constexpr double kSpreadToWarnOf = 0.03;

constexpr std::int64_t kDistinct = std::int64_t{1} << 20;

/// Columns with a range to their right.
std::vector<std::size_t> ranged_columns(const CaseTable& table) {
    std::vector<std::size_t> ranged;
    for (std::size_t i = 0; i + 2 < table.columns.size(); ++i)
        if (table.columns[i + 1].ends_with("low") && table.columns[i + 2].ends_with("high"))
            ranged.push_back(i);
    return ranged;
}

}  // namespace

Bytes host_memory_budget(const HostFacts& host) {
    const std::optional<Bytes> capacity = host_memory_capacity(host);
    if (!capacity) return static_cast<Bytes>(kHostBytesIfUnknown);
    return static_cast<Bytes>(
        std::min(kMostHostBytes, kMostHostShare * static_cast<double>(*capacity)));
}

Bytes last_level_cache(const HostFacts& host, const std::string& root) {
    const SystemFiles files(root);
    const std::string folder = "sys/devices/system/cpu/cpu0/cache/index3/";
    // Not sysconf(): glibc divides an AMD processor's cache by its own rules, 335 MB instead of 32.
    const std::string size = files.text(folder + "size");  // "32768K"
    const std::size_t unit = size.find('K');
    if (unit == std::string::npos) return 0;
    const auto kibibytes = parse_integer(std::string_view(size).substr(0, unit));
    const auto sharing = parse_id_list(files.text(folder + "shared_cpu_list"));
    if (!kibibytes || !sharing || sharing->empty()) return 0;
    const std::size_t caches = (host.cpus.size() + sharing->size() - 1) / sharing->size();
    return *kibibytes * 1024 * static_cast<Bytes>(std::max<std::size_t>(1, caches));
}

std::vector<int> optimizer_cpus(const Bench& bench, int threads) {
    return choose_placement(bench.host, {bench.device_facts.numa_node, threads}).optimizer_cpus;
}

std::vector<int> nodes_of(const HostFacts& host, const std::vector<int>& cpus) {
    std::set<int> nodes;
    for (const Cpu& cpu : host.cpus)
        if (std::find(cpus.begin(), cpus.end(), cpu.id) != cpus.end()) nodes.insert(cpu.node);
    return {nodes.begin(), nodes.end()};
}

std::vector<int> doubling_threads(int most) {
    std::set<int> threads{most};
    for (int n = 1; n < most; n *= 2) threads.insert(n);
    return {threads.begin(), threads.end()};
}

void fill_normal(ThreadPool& pool, std::uint16_t* values, std::int64_t count, float deviation,
                 std::uint64_t seed) {
    const std::int64_t distinct = std::min(count, kDistinct);
    pool.parallel_for(distinct, kDistinct / 64, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            values[i] = split_master(deviation * normal_like(seed, i)).high;
    });
    pool.parallel_for(count - distinct, distinct, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; i += distinct) {
            const std::int64_t here = std::min(distinct, end - i);
            std::copy_n(values, here, values + distinct + i);
        }
    });
}

Sample time_groups(int groups, Seconds group_seconds, const std::function<void()>& call) {
    std::vector<double> seconds;
    for (int group = 0; group < groups; ++group) {
        const Seconds start = host_seconds();
        Seconds end = start;
        int calls = 0;
        for (; end - start < group_seconds; ++calls) {
            call();
            end = host_seconds();
        }
        seconds.push_back((end - start) / calls);
    }
    return summarize(seconds);
}

void add_with_spread(CaseRecord& record, CaseTable table) {
    const std::vector<std::size_t> ranged = ranged_columns(table);
    double worst = kSpreadToWarnOf;
    std::string text;
    for (const std::vector<double>& row : table.rows) {
        for (const std::size_t column : ranged) {
            const double spread = (row[column + 2] - row[column + 1]) / row[column];
            if (!(spread > worst)) continue;
            worst = spread;
            std::string where;
            for (std::size_t i = 0; i < ranged.front(); ++i)
                where += fmt::format("{}{} {:.0f}", i == 0 ? "" : ", ", table.columns[i], row[i]);
            text = fmt::format("{}: at {}, {} is {:.4g} but from {:.4g} to {:.4g}, {:.0f}% apart",
                               table.name, where, table.columns[column], row[column],
                               row[column + 1], row[column + 2], 100 * spread);
        }
    }
    if (!text.empty())
        record.warnings.push_back(fmt::format("{}, the worst of {} rows; was the machine busy?",
                                              text, table.rows.size()));
    record.tables.push_back(std::move(table));
}

}  // namespace sluice

#include "calibrate/cases/case_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/machine/placement.h"
#include "engine/optimizer/parameter_block.h"
#include "sim/mixed_bits.h"

namespace sluice {
namespace {

constexpr double kMostHostBytes = 24e9;
constexpr double kMostHostShare = 0.25;
constexpr double kHostBytesIfUnknown = 1e9;

constexpr double kSpreadToWarnOf = 0.03;

constexpr int kLaneThreads = 4;

/// The sum of four uniform numbers, of variance 1: never beyond 3.5.
float normal_like(std::uint64_t seed, std::int64_t index) {
    const std::uint64_t bits = mixed_bits(seed ^ mixed_bits(static_cast<std::uint64_t>(index)));
    std::int64_t sum = -2 * 0xFFFF;
    for (int shift = 0; shift < 64; shift += 16)
        sum += static_cast<std::int64_t>(bits >> shift & 0xFFFF);
    constexpr float kDeviation = 37837.2F;  // of the sum: 2^16 sqrt(4 / 12)
    return static_cast<float>(sum) / kDeviation;
}

}  // namespace

Bytes host_memory_budget(const HostFacts& host) {
    const std::optional<Bytes> capacity = host_memory_capacity(host);
    if (!capacity) return static_cast<Bytes>(kHostBytesIfUnknown);
    return static_cast<Bytes>(
        std::min(kMostHostBytes, kMostHostShare * static_cast<double>(*capacity)));
}

std::vector<int> optimizer_cpus(const Bench& bench, int threads) {
    return choose_placement(bench.host, {bench.device_facts.numa_node, threads, kLaneThreads, 0})
        .optimizer_cpus;
}

std::vector<int> doubling_threads(int most) {
    std::set<int> threads{most};
    for (int n = 1; n < most; n *= 2) threads.insert(n);
    return {threads.begin(), threads.end()};
}

void fill_normal(ThreadPool& pool, std::uint16_t* values, std::int64_t count, float deviation,
                 std::uint64_t seed) {
    constexpr std::int64_t kGrain = std::int64_t{1} << 16;
    pool.parallel_for(count, kGrain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            values[i] = split_master(deviation * normal_like(seed, i)).high;
    });
}

void warn_of_spread(CaseRecord& record, const Table& table, std::string_view value,
                    std::string_view low, std::string_view high) {
    double worst = kSpreadToWarnOf;
    std::size_t worst_row = table.rows.size();
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        const double middle = table.at(row, value);
        const double spread = (table.at(row, high) - table.at(row, low)) / middle;
        if (middle > 0 && spread > worst) {
            worst = spread;
            worst_row = row;
        }
    }
    if (worst_row == table.rows.size()) return;
    std::string where;
    for (std::size_t i = 0; i < table.column(value); ++i)
        where += fmt::format(" {} {:g},", table.columns[i], table.rows[worst_row][i]);
    if (!where.empty()) where.back() = ':';
    record.warnings.push_back(fmt::format(
        "{}:{} {} {:.4g}, from {:.4g} to {:.4g}: a spread of {:.0f}%, the worst of {} rows; was "
        "the machine busy?",
        table.name, where, value, table.at(worst_row, value), table.at(worst_row, low),
        table.at(worst_row, high), 100 * worst, table.rows.size()));
}

}  // namespace sluice

// Which threads and how much memory of the host may a case use, and which numbers lie there?
#pragma once

#include <string>
#include <vector>

#include "calibrate/cases/bench.h"

namespace sluice {

/// Most host memory that a case holds at a time, but for the optimizer's parameters (OptimizerLoad,
/// beside a GPU up to 48 GB): a quarter of what the machine has, at most 24 GB;
/// 1 GB where it is not known how much there is.
Bytes host_memory_budget(const HostFacts& host);

/// Bytes of the last level of cache, of all the caches that the process's CPUs are spread over; 0:
/// not known. Reads /sys below `root`.
Bytes last_level_cache(const HostFacts& host, const std::string& root = "/");

/// Where sluice-train would pin so many threads of the optimizer; empty: not known.
std::vector<int> optimizer_cpus(const Bench& bench, int threads);

/// NUMA nodes of CPUs, each once, ascending: memory lies on them that threads there touch first.
std::vector<int> nodes_of(const HostFacts& host, const std::vector<int>& cpus);

/// 1, 2, 4, 8, ... and `most`. Precondition: most >= 1.
std::vector<int> doubling_threads(int most);

/// `count` random bf16 numbers of mean 0 and standard deviation `deviation`, nearly normal, from a
/// million of them again and again; the same for the same seed, whatever the threads.
void fill_normal(ThreadPool& pool, std::uint16_t* values, std::int64_t count, float deviation,
                 std::uint64_t seed);

/// Seconds of one call, of groups of calls that each take `group_seconds` or more.
Sample time_groups(int groups, Seconds group_seconds, const std::function<void()>& call);

/// Adds the table, and a warning where a rate or time and its range are more than 3% apart: one a
/// table, for the worst row, which the columns before the first range name. A range is two columns,
/// ..low and ..high, right of the column that they belong to.
void add_with_spread(CaseRecord& record, CaseTable table);

}  // namespace sluice

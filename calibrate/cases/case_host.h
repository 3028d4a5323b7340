// Which threads and how much memory of the host may a case use, and which numbers are in that
// memory?
#pragma once

#include <string>
#include <vector>

#include "calibrate/cases/bench.h"

namespace sluice {

/// The most host memory that a case holds at a time, without the optimizer's parameters
/// (OptimizerLoad, with a GPU up to 48 GB): a quarter of the machine's, at most 24 GB; 1 GB if that
/// is not known.
Bytes host_memory_budget(const HostFacts& host);

/// Bytes of all last-level caches of the CPUs that the process may use; 0: not known. Reads /sys
/// below `root`.
Bytes last_level_cache(const HostFacts& host, const std::string& root = "/");

/// The CPUs to which sluice-train would pin that many optimizer threads; empty: not known.
std::vector<int> optimizer_cpus(const Bench& bench, int threads);

/// NUMA nodes of CPUs, each once, ascending: memory that threads there touch first is placed on
/// them.
std::vector<int> nodes_of(const HostFacts& host, const std::vector<int>& cpus);

/// 1, 2, 4, 8, ... and `most`. Precondition: most >= 1.
std::vector<int> doubling_threads(int most);

/// `count` random bf16 numbers of mean 0 and standard deviation `deviation`, nearly normal, which
/// repeat after a million. They depend only on the seed, not on the number of threads.
void fill_normal(ThreadPool& pool, std::uint16_t* values, std::int64_t count, float deviation,
                 std::uint64_t seed);

/// Seconds per call, from groups of calls that each take `group_seconds` or more.
Sample time_groups(int groups, Seconds group_seconds, const std::function<void()>& call);

/// Adds the table, and a warning if the range of a rate or time exceeds 3% of it: one per table,
/// for the worst row, which the columns before the first range name. A range is two columns, ..low
/// and ..high, to the right of their column.
void add_with_spread(CaseRecord& record, CaseTable table);

}  // namespace sluice

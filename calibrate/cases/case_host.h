// Which threads and how much memory of the host may a case use, and which numbers lie there?
#pragma once

#include <string_view>
#include <vector>

#include "calibrate/cases/bench.h"

namespace sluice {

/// Most host memory that a case holds at a time: a quarter of what the machine has, at most 24 GB;
/// 1 GB where it is not known how much there is.
Bytes host_memory_budget(const HostFacts& host);

/// Where sluice-train would pin so many threads of the optimizer; empty: not known.
std::vector<int> optimizer_cpus(const Bench& bench, int threads);

/// 1, 2, 4, 8, ... and `most`. Precondition: most >= 1.
std::vector<int> doubling_threads(int most);

/// `count` random bf16 numbers of mean 0 and standard deviation `deviation`, nearly normal; the same
/// for the same seed, whatever the threads.
void fill_normal(ThreadPool& pool, std::uint16_t* values, std::int64_t count, float deviation,
                 std::uint64_t seed);

/// A warning where the column's 5th to 95th percentile, in the columns `low` and `high`, are more
/// than 3% apart: one, for the worst row, which its columns before `value` name.
void warn_of_spread(CaseRecord& record, const Table& table, std::string_view value,
                    std::string_view low, std::string_view high);

}  // namespace sluice

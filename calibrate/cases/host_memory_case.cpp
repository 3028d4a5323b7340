// How fast do threads read, write and copy host memory, and touch fresh pages?
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>

#include "calibrate/cases/case_host.h"
#include "calibrate/cases/cases.h"
#include "calibrate/cases/memory_loops.h"
#include "engine/memory/host_region.h"
#include "sim/input_error.h"

namespace sluice {
namespace {

constexpr double kLeastBytes = 1e9;
constexpr Bytes kTouched = 512 * kMiB;
constexpr Bytes kPage = 4096;
/// Elements; a piece of a thread's work is at least as large.
constexpr std::int64_t kGrain = std::int64_t{1} << 16;

/// Bytes of each of the three arrays: 4 times the last level of cache, 1 GB in all at least (so
/// STREAM's rules), less where the machine is small.
Bytes array_bytes(const Bench& bench) {
    const auto cache = static_cast<double>(std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE)));
    const auto budget = static_cast<double>(host_memory_budget(bench.host));
    const double all = std::min(std::max(kLeastBytes, 3 * 4 * cache), budget);
    return static_cast<Bytes>(all / 3) / kPage * kPage;
}

/// Three arrays, on the pages of one region.
struct Arrays {
    float* a;
    float* b;
    float* c;
    std::int64_t count;
    Bytes bytes() const { return count * kFp32; }
};

/// Seconds of one call: of groups of calls after two calls.
Sample time_calls(bool quick, const std::function<void()>& call) {
    const int groups = quick ? 3 : 7;
    const Seconds group_seconds = quick ? 0.01 : 0.03;
    call();
    call();
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

/// A loop over the arrays by all threads of a pool, and the bytes that count.
struct Loop {
    const char* table;
    const char* method;
    Bytes (*bytes)(const Arrays&);
    void (*run)(ThreadPool&, const Arrays&);
};

void read_all(ThreadPool& pool, const Arrays& arrays) {
    static std::atomic<std::uint32_t> sink;  // somebody might look: the loop must run
    pool.parallel_for(3 * arrays.count, kGrain, [&](std::int64_t begin, std::int64_t end) {
        sink += read_words(reinterpret_cast<const std::uint32_t*>(arrays.a) + begin, end - begin);
    });
}

void write_all(ThreadPool& pool, const Arrays& arrays) {
    pool.parallel_for(3 * arrays.count, kGrain, [&](std::int64_t begin, std::int64_t end) {
        write_words(arrays.a + begin, 0.7F, end - begin);
    });
}

void triad_all(ThreadPool& pool, const Arrays& arrays) {
    pool.parallel_for(arrays.count, kGrain, [&](std::int64_t begin, std::int64_t end) {
        triad(arrays.a + begin, arrays.b + begin, arrays.c + begin, 0.5F, end - begin);
    });
}

void copy_all(ThreadPool& pool, const Arrays& arrays) {
    pool.parallel_for(arrays.count, kGrain, [&](std::int64_t begin, std::int64_t end) {
        std::memcpy(arrays.a + begin, arrays.b + begin,
                    static_cast<std::size_t>((end - begin) * kFp32));
    });
}

Bytes three_arrays(const Arrays& arrays) { return 3 * arrays.bytes(); }
Bytes one_array(const Arrays& arrays) { return arrays.bytes(); }

/// In this order: writing leaves one number everywhere.
constexpr Loop kLoops[] = {
    {"host_read", "sum of words; bytes read", three_arrays, read_all},
    {"host_triad", "a = b + s c in fp32 (STREAM), 12 bytes an element: reading a line before it is "
                   "written is not counted", three_arrays, triad_all},
    {"host_copy", "memcpy; each byte copied counts once", one_array, copy_all},
    {"host_write", "fp32 numbers; bytes written", three_arrays, write_all},
};

void require_triad(const Arrays& arrays) {
    for (std::int64_t i = 0; i < arrays.count; i += 9973)
        if (std::abs(arrays.a[i] - (arrays.b[i] + 0.5F * arrays.c[i])) > 1e-6F * std::abs(arrays.a[i]))
            throw InternalError("the triad over host memory computed something else");
}

Sample time_first_touch(ThreadPool& pool, Bytes bytes, bool quick) {
    std::vector<double> seconds;
    for (int i = 0; i < (quick ? 2 : 4); ++i) {
        const Seconds start = host_seconds();
        const HostRegion region(bytes, "pages to touch", pool);
        seconds.push_back(host_seconds() - start);
    }
    seconds.erase(seconds.begin());  // a virtual machine may get its memory only now
    return summarize(seconds);
}

void add_rate(Table& table, int threads, Bytes bytes, const Sample& seconds) {
    const Sample rate = rate_of(static_cast<double>(bytes) / kGiga, seconds);
    table.add({static_cast<double>(threads), rate.median, rate.low, rate.high});
}

Table rate_table(const char* name, const char* method) {
    return {.name = name, .method = method, .columns = {"threads", "gb_per_s", "low", "high"},
            .rows = {}};
}

/// All of one number of threads, a row a table.
void measure_threads(const Bench& bench, int threads, std::vector<Table>& tables) {
    ThreadPool pool(threads, optimizer_cpus(bench, threads));
    const Bytes touched = std::min(kTouched, host_memory_budget(bench.host) / 2);
    add_rate(tables.back(), threads, touched, time_first_touch(pool, touched, bench.quick));
    const Bytes each = array_bytes(bench);
    const HostRegion memory(3 * each, "arrays to measure host memory with", pool);
    fill_normal(pool, memory.at<std::uint16_t>(0), memory.bytes() / kBf16, 1, 3);
    const Arrays arrays{memory.at<float>(0), memory.at<float>(each), memory.at<float>(2 * each),
                        each / kFp32};
    for (std::size_t i = 0; i < std::size(kLoops); ++i) {
        const Loop& loop = kLoops[i];
        const Sample seconds = time_calls(bench.quick, [&] { loop.run(pool, arrays); });
        add_rate(tables[i], threads, loop.bytes(arrays), seconds);
        if (loop.run == triad_all) require_triad(arrays);
    }
}

}  // namespace

void measure_host_memory(Bench& bench, CaseRecord& record) {
    std::vector<Table> tables;
    for (const Loop& loop : kLoops) tables.push_back(rate_table(loop.table, loop.method));
    tables.push_back(rate_table("host_first_touch",
                                "fresh pages of the process (huge where the system gives them), a "
                                "write a page, mapping included; the system zeroes them"));
    const std::vector<int> counts = doubling_threads(bench.optimizer_threads);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        measure_threads(bench, counts[i], tables);
        bench.report(static_cast<double>(i + 1) / static_cast<double>(counts.size()));
    }
    for (Table& table : tables) {
        warn_of_spread(record, table, "gb_per_s", "low", "high");
        record.tables.push_back(std::move(table));
    }
}

}  // namespace sluice

// How fast do threads read, write and copy host memory, and touch fresh pages?
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>

#include "calibrate/cases/bench.h"
#include "calibrate/cases/case_host.h"
#include "calibrate/cases/memory_loops.h"
#include "engine/memory/host_region.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

constexpr double kBytesIfCacheUnknown = 1e9;
constexpr double kLeastBytes = 0.4e9;
constexpr double kMostBytes = 4e9;
constexpr Bytes kTouched = 256 * kMiB;
/// Elements of the smallest piece of a thread's work.
constexpr std::int64_t kGrain = std::int64_t{1} << 16;

/// Bytes of each of the three arrays: 4 times the last level of cache (STREAM's rule), or 1 GB in
/// all if that is not known.
Bytes array_bytes(const Bench& bench) {
    const Bytes cache = last_level_cache(bench.host);
    const double wanted =
        cache == 0 ? kBytesIfCacheUnknown : std::max(kLeastBytes, 12 * static_cast<double>(cache));
    const auto budget = static_cast<double>(host_memory_budget(bench.host));
    return static_cast<Bytes>(std::min({wanted, budget, kMostBytes}) / 3) / kPage * kPage;
}

/// Three arrays, on the pages of one region.
struct Arrays {
    float* a;
    float* b;
    float* c;
    std::int64_t count;
    Bytes bytes() const { return count * kFp32; }
};

/// Seconds per call, from groups of calls after one call; from fewer groups if calls are long, as
/// with one thread.
Sample time_calls(bool quick, const std::function<void()>& call) {
    constexpr Seconds kLong = 0.1;
    const Seconds begin = host_seconds();
    call();
    const int groups = host_seconds() - begin > kLong ? 2 : quick ? 3 : 5;
    return time_groups(groups, quick ? 0.01 : 0.03, call);
}

/// A loop over the arrays by all threads of a pool, and the bytes that count.
struct Loop {
    const char* table;
    const char* method;
    Bytes (*bytes)(const Arrays&);
    void (*run)(ThreadPool&, const Arrays&);
};

void read_all(ThreadPool& pool, const Arrays& arrays) {
    static std::atomic<std::uint32_t> sink;  // uses the result, so that the loop must run
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

/// In this order, since writing leaves one number everywhere.
constexpr Loop kLoops[] = {
    {"host_read", "sum of words; bytes read", three_arrays, read_all},
    {"host_triad",
     "a = b + s c in fp32 (STREAM), 12 bytes an element: reading a line before it is "
     "written is not counted",
     three_arrays, triad_all},
    {"host_copy", "memcpy; each byte copied counts once", one_array, copy_all},
    {"host_write", "fp32 numbers; bytes written", three_arrays, write_all},
};

void require_triad(const Arrays& arrays) {
    for (std::int64_t i = 0; i < arrays.count; i += 9973)
        if (std::abs(arrays.a[i] - (arrays.b[i] + 0.5F * arrays.c[i])) >
            1e-6F * std::abs(arrays.a[i]))
            throw InternalError("the triad over host memory computed something else");
}

/// The first time, and later times: a virtual machine may get its memory only when it is used.
struct FirstTouch {
    Seconds first = 0;
    Sample later;
};

FirstTouch time_first_touch(ThreadPool& pool, Bytes bytes, bool quick) {
    std::vector<double> seconds;
    const std::size_t most = quick ? 3 : 5;
    const Seconds begin = host_seconds();
    while (seconds.size() < 2 || (seconds.size() < most && host_seconds() < begin + 0.5)) {
        const Seconds start = host_seconds();
        const HostRegion region(bytes, "pages to touch", pool);
        seconds.push_back(host_seconds() - start);
    }
    const Seconds first = seconds.front();
    seconds.erase(seconds.begin());
    return {first, summarize(seconds)};
}

CaseTable rate_table(const char* name, const char* method) {
    return {.name = name, .method = method, .columns = {"threads", "gb_per_s", "low", "high"}};
}

class HostMemory {
  public:
    HostMemory(const Bench& bench, CaseRecord& record) : bench_(bench), record_(record) {
        for (const Loop& loop : kLoops) loops_.push_back(rate_table(loop.table, loop.method));
    }

    void measure_all() {
        // The largest number of threads first, since these touch the arrays.
        std::vector<int> counts = doubling_threads(bench_.optimizer_threads);
        std::reverse(counts.begin(), counts.end());
        for (const int threads : counts) {
            measure(threads);
            bench_.report(touch_.rows.size(), counts.size());
        }
        loops_.push_back(std::move(touch_));
        for (CaseTable& table : loops_) {
            std::reverse(table.rows.begin(), table.rows.end());
            add_with_spread(record_, std::move(table));
        }
    }

  private:
    void measure(int threads) {
        const std::vector<int> cpus = optimizer_cpus(bench_, threads);
        ThreadPool pool(threads, cpus);
        measure_first_touch(pool);
        make_arrays(pool, nodes_of(bench_.host, cpus));
        for (std::size_t i = 0; i < std::size(kLoops); ++i) {
            const Loop& loop = kLoops[i];
            const Sample seconds = time_calls(bench_.quick, [&] { loop.run(pool, arrays_); });
            add_rate(loops_[i], threads, loop.bytes(arrays_), seconds);
            if (loop.run == triad_all) require_triad(arrays_);
        }
    }

    void measure_first_touch(ThreadPool& pool) {
        const Bytes bytes = std::min(kTouched, host_memory_budget(bench_.host) / 4);
        const FirstTouch touch = time_first_touch(pool, bytes, bench_.quick);
        const auto gb = static_cast<double>(bytes) / kGiga;
        if (touch_.rows.empty() && touch.first > 2 * touch.later.median)
            record_.warnings.push_back(fmt::format(
                "host_first_touch: the first {:.2f} GB came at {:.2g} GB/s, the same again at "
                "{:.2g}: this machine gets its memory as it is used, which no row shows",
                gb, gb / touch.first, gb / touch.later.median));
        add_rate(touch_, pool.size(), bytes, touch.later);
    }

    /// New arrays only if they have to be on other nodes.
    void make_arrays(ThreadPool& pool, const std::vector<int>& nodes) {
        if (memory_.bytes() == 0 || nodes != nodes_) {
            const Bytes each = array_bytes(bench_);
            memory_ = HostRegion();
            memory_ = HostRegion(3 * each, "arrays to measure host memory with", pool);
            arrays_ = {memory_.at<float>(0), memory_.at<float>(each), memory_.at<float>(2 * each),
                       each / kFp32};
            nodes_ = nodes;
        }
        fill_normal(pool, memory_.at<std::uint16_t>(0), memory_.bytes() / kBf16, 1, 3);
    }

    static void add_rate(CaseTable& table, int threads, Bytes bytes, const Sample& seconds) {
        const Sample rate = rate_of(static_cast<double>(bytes) / kGiga, seconds);
        table.add({static_cast<double>(threads), rate.median, rate.low, rate.high});
    }

    const Bench& bench_;
    CaseRecord& record_;
    HostRegion memory_;
    Arrays arrays_{};
    std::vector<int> nodes_;
    std::vector<CaseTable> loops_;  ///< the same order as kLoops
    CaseTable touch_ =
        rate_table("host_first_touch",
                   "fresh pages of the process (huge where the system gives them), a "
                   "write a page, mapping included; the system zeroes them");
};

}  // namespace

void measure_host_memory(Bench& bench, CaseRecord& record) {
    HostMemory(bench, record).measure_all();
}

}  // namespace sluice

// How fast is the optimizer, by threads and by bytes of state?
#include <algorithm>
#include <set>

#include "calibrate/cases/bench.h"
#include "calibrate/cases/case_host.h"
#include "calibrate/cases/load_window.h"
#include "calibrate/cases/optimizer_load.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

struct Run {
    int state_bytes, threads;
};

std::vector<Run> runs(const Bench& bench) {
    const int most = bench.optimizer_threads;
    std::vector<Run> all;
    for (const auto& [state_bytes, low, moments, words] : kStatePrecisions) {
        std::vector<int> threads = bench.quick         ? doubling_threads(most)
                                   : state_bytes == 12 ? optimizer_thread_counts(most)
                                                       : few_optimizer_thread_counts(most);
        if (bench.quick && state_bytes != 12) threads = {most};
        // The largest number of threads first, since these touch the memory.
        std::reverse(threads.begin(), threads.end());
        for (const int n : threads) all.push_back({state_bytes, n});
    }
    return all;
}

/// Seconds of one update: from groups of updates, after two that do not count.
Sample time_updates(OptimizerLoad& load, bool quick) {
    for (int i = 0; i < 2; ++i) load.update();
    return time_groups(quick ? 5 : 9, quick ? 0.02 : 0.04, [&] { load.update(); });
}

/// Updates of several sizes give the fixed cost of a call: threads wake up, and all wait for the
/// last one. Sizes are measured upwards and downwards, so that drift causes no difference between
/// them.
CaseTable sizes_of_updates(Bench& bench, OptimizerLoad& load) {
    CaseTable table{.name = "adam_by_size",
                    .method =
                        "adamw() as in the table adam, on blocks of several sizes; the smallest is "
                        "that of all other measurements of the optimizer",
                    .columns = {"state_bytes", "threads", "parameters", "us", "low", "high"}};
    constexpr int kState = 12;
    const int most = bench.optimizer_threads;
    for (const int threads :
         std::set<int>{std::max(1, most / 4), std::max(1, 3 * most / 4), most}) {
        for (const int times : {1, 4, 16, 16, 4, 1}) {
            load.set(kState, threads);
            if (times > 1 && !load.enlarge_blocks(times)) continue;
            const Sample seconds = time_updates(load, bench.quick);
            load.check_result();
            table.add({kState, static_cast<double>(threads),
                       static_cast<double>(load.parameters_per_update()), seconds.median * kMega,
                       seconds.low * kMega, seconds.high * kMega});
        }
    }
    return table;
}

}  // namespace

std::vector<int> optimizer_thread_counts(int most) {
    const int step = 2 * ((most + 15) / 16);
    std::set<int> threads{1, 2, 4, most - 1, most};
    for (int n = step; n < most; n += step) threads.insert(n);
    return {threads.lower_bound(1), threads.upper_bound(most)};
}

std::vector<int> few_optimizer_thread_counts(int most) {
    std::set<int> threads{1, most};
    for (const int quarters : {1, 2, 3}) threads.insert(std::max(1, quarters * most / 4));
    return {threads.begin(), threads.end()};
}

void measure_adam(Bench& bench, CaseRecord& record) {
    CaseTable table{.name = "adam",
                    .method =
                        "adamw() on blocks of random parameters and gradients in host memory, "
                        "together far larger than the caches, threads pinned as in training; "
                        "median of groups of calls",
                    .columns = {"state_bytes", "threads", "gparams_per_s", "low", "high"}};
    OptimizerLoad load(bench);
    const std::vector<Run> all = runs(bench);
    for (const Run& run : all) {
        load.set(run.state_bytes, run.threads);
        const Sample seconds = time_updates(load, bench.quick);
        load.check_result();
        const Sample rate =
            rate_of(static_cast<double>(load.parameters_per_update()) / kGiga, seconds);
        table.add({static_cast<double>(run.state_bytes), static_cast<double>(run.threads),
                   rate.median, rate.low, rate.high});
        bench.report(table.rows.size(), all.size());
    }
    add_with_spread(record, std::move(table));
    if (!bench.quick) record.tables.push_back(sizes_of_updates(bench, load));
}

}  // namespace sluice

#include "calibrate/cases/load_window.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "calibrate/cases/case_host.h"
#include "sim/base/input_error.h"
#include "tests/catch.h"

using namespace sluice;

TEST_CASE("load window: a rate counts what was completed from begin to end", "[cases]") {
    // Begun at 0, a unit done each 0.5 s: two a second, whatever the window.
    const std::vector<Seconds> even = {0, 0.5, 1, 1.5, 2, 2.5};
    CHECK(completed_per_second(even, 0, 2.5) == Approx(2));
    CHECK(completed_per_second(even, 0.5, 2) == Approx(2));
    CHECK(completed_per_second(even, 0.6, 0.7) == Approx(2));
}

TEST_CASE("load window: units across the window's ends count by the time inside it", "[cases]") {
    // One unit from 0 to 1, the next from 1 to 5. In [0.5, 2]: half of the first, a quarter of the
    // second, in 1.5 s.
    const std::vector<Seconds> uneven = {0, 1, 5};
    CHECK(completed_per_second(uneven, 0.5, 2) == Approx(0.75 / 1.5));
    CHECK(completed_per_second(uneven, 1, 5) == Approx(0.25));
}

TEST_CASE("load window: units done at the same time all count", "[cases]") {
    const std::vector<Seconds> completions = {0, 1, 1, 1, 2};
    CHECK(completed_per_second(completions, 0.5, 2) == Approx(3.5 / 1.5));
}

TEST_CASE("load window: completions that do not cover the window are refused", "[cases]") {
    const std::vector<Seconds> completions = {1, 2, 3};
    CHECK_THROWS_AS(completed_per_second(completions, 0.9, 2), InternalError);
    CHECK_THROWS_AS(completed_per_second(completions, 1, 3.1), InternalError);
    CHECK_THROWS_AS(completed_per_second(completions, 2, 2), InternalError);
    CHECK_THROWS_AS(completed_per_second({}, 0, 1), InternalError);
}

namespace {

/// A device of the CPU, and memory to copy between.
struct SmallCopies {
    std::unique_ptr<Device> device = make_cpu_device(1);
    std::vector<char> host = std::vector<char>(1 << 20, 'h');
    char* arena = device->allocate_arena(1 << 20, 0, 0);

    Loads loads() {
        Loads loads;
        loads.in = {host.data(), arena, 1 << 19, 1 << 16};
        loads.out = {host.data() + (1 << 19), arena + (1 << 19), 1 << 19, 1 << 16};
        return loads;
    }
};

}  // namespace

TEST_CASE("load window: loads that are asked for run together, the others do not", "[cases]") {
    SmallCopies small;
    const LoadRates rates =
        run_loads(*small.device, small.loads(), {.in = true, .out = true}, 0.01, 0.02);
    CHECK(rates.in_bytes > 0);
    CHECK(rates.out_bytes > 0);
    CHECK(rates.products == 0);
    CHECK(rates.parameters == 0);
    const std::vector<char> was(1 << 19, 'h');
    CHECK(std::memcmp(small.arena, was.data(), was.size()) == 0);  // copied in
    CHECK(small.host.back() == 0);                                 // copied out
    CHECK(small.host[(1 << 19) - 1] == 'h');
}

TEST_CASE("load window: an error of a load ends all and is thrown", "[cases]") {
    SmallCopies small;
    Loads loads = small.loads();
    loads.product = [](std::int64_t call) {
        if (call == 5) throw std::runtime_error("product 5");
    };
    CHECK_THROWS_WITH(
        run_loads(*small.device, loads, {.compute = true, .in = true, .out = true}, 0.01, 10),
        ContainsSubstring("product 5"));
}

TEST_CASE("load window: no load is our mistake", "[cases]") {
    SmallCopies small;
    CHECK_THROWS_AS(run_loads(*small.device, small.loads(), {}, 0.01, 0.01), InternalError);
}

TEST_CASE(
    "optimizer load: updates move parameters of every precision, and memory is allocated again",
    "[cases]") {
    SmallCopies small;
    Bench bench{.device = *small.device, .device_facts = {}, .host = {}, .optimizer_threads = 2};
    bench.host.memory_total = Bytes{6} * 1'000'000'000;  // 120 MB of parameters
    OptimizerLoad load(bench);
    // Blocks of 3 Mi parameters with a gradient of 2 bytes each: 44.0, 31.5 and 25.4 MB.
    for (const auto& [state_bytes, blocks] : {std::pair{12, 2}, {8, 3}, {6, 4}}) {
        load.set(state_bytes, 2, {});
        CHECK(load.updates_per_pass() == blocks);
        CHECK_THROWS_WITH(load.check_result(), ContainsSubstring("left 1024 of 1024"));
        load.update();
        CHECK_NOTHROW(load.check_result());
        load.set(state_bytes, 1, {});  // fewer threads: the same parameters
        CHECK_NOTHROW(load.check_result());
    }
}

TEST_CASE("adam case: thread counts go from one to all", "[cases]") {
    CHECK(optimizer_thread_counts(16) == std::vector<int>{1, 2, 4, 6, 8, 10, 12, 14, 15, 16});
    CHECK(optimizer_thread_counts(1) == std::vector<int>{1});
    CHECK(optimizer_thread_counts(2) == std::vector<int>{1, 2});
    CHECK(optimizer_thread_counts(96).size() == 12);
    CHECK(few_optimizer_thread_counts(16) == std::vector<int>{1, 4, 8, 12, 16});
    CHECK(few_optimizer_thread_counts(2) == std::vector<int>{1, 2});
    CHECK(doubling_threads(6) == std::vector<int>{1, 2, 4, 6});
}

TEST_CASE("mixed load: what is held out is not in the fit, and nothing is measured twice",
          "[cases]") {
    for (const bool is_gpu : {false, true}) {
        for (const bool quick : {false, true}) {
            for (const int threads : {1, 2, 3, 4, 8, 16, 96}) {
                const auto groups = mixed_groups({is_gpu, threads, quick});
                std::set<std::tuple<int, int>> seen;
                for (const MixedGroup& group : groups) {
                    CHECK(group.threads >= 1);
                    CHECK(group.threads <= threads);
                    CHECK(seen.emplace(group.state_bytes, group.threads).second);
                }
                const auto held_out = [](const MixedGroup& group) { return group.held_out; };
                // A GPU's host with three threads or fewer has none between those fitted.
                if (!is_gpu || quick || threads > 3)
                    CHECK(std::any_of(groups.begin(), groups.end(), held_out));
                CHECK_FALSE(std::all_of(groups.begin(), groups.end(), held_out));
            }
        }
    }
    const auto groups = mixed_groups({true, 16, false});
    CHECK(std::count(groups.begin(), groups.end(), MixedGroup{12, 12, false}) == 1);
    CHECK(std::count(groups.begin(), groups.end(), MixedGroup{12, 14, true}) == 1);
    CHECK(std::count(groups.begin(), groups.end(), MixedGroup{8, 13, true}) == 1);
}

TEST_CASE("mixed load: each load alone, then together; with products where that tells more",
          "[cases]") {
    const auto windows = mixed_windows({12, 8, false}, {true, 16, false});
    CHECK(windows.size() == 7);
    CHECK(windows[0] == LoadSet{.work = true});
    CHECK(windows.back() == LoadSet{.in = true, .out = true, .work = true});
    // With compute: 4 sets more, in one group.
    CHECK(mixed_windows({12, 16, false}, {true, 16, false}).size() == 11);
    CHECK(mixed_windows({6, 16, false}, {true, 16, false}).size() == 7);
    // A device without products.
    CHECK(mixed_windows({12, 16, false}, {true, 16, false, false}).size() == 7);
    // A CPU's: all 15 sets.
    CHECK(mixed_windows({12, 1, false}, {false, 2, false}).size() == 15);
    CHECK(mixed_rounds({12, 8, false}, {true, 16, false}) == 4);
    CHECK(mixed_rounds({8, 8, false}, {true, 16, false}) == 2);
    CHECK(mixed_rounds({12, 8, false}, {true, 16, true}) == 1);
}

TEST_CASE("cases: the worst spread over 3% is warned of, with its numbers", "[cases]") {
    CaseTable table{.name = "adam",
                    .method = "",
                    .columns = {"state_bytes", "threads", "gparams_per_s", "low", "high"},
                    .rows = {{12, 1, 2, 1.98, 2.02}, {12, 4, 8, 7.2, 8.4}, {12, 8, 10, 9.6, 10}}};
    CaseRecord record;
    add_with_spread(record, table);
    REQUIRE(record.warnings.size() == 1);
    CHECK_THAT(record.warnings.front(),
               ContainsSubstring("adam: at state_bytes 12, threads 4, gparams_per_s is 8 but from "
                                 "7.2 to 8.4, 15% apart"));
    table.rows.resize(1);
    CaseRecord quiet;
    add_with_spread(quiet, table);
    CHECK(quiet.warnings.empty());
}

TEST_CASE("cases: a table with two ranges is warned of once", "[cases]") {
    const CaseTable table{
        .name = "copy_both_ways",
        .method = "",
        .columns = {"bytes", "in", "in_low", "in_high", "out", "out_low", "out_high"},
        .rows = {{16, 10, 9, 10, 20, 15, 20}}};
    CaseRecord record;
    add_with_spread(record, table);
    REQUIRE(record.warnings.size() == 1);
    CHECK_THAT(record.warnings.front(), ContainsSubstring("at bytes 16, out is 20"));
}

TEST_CASE("cases: random numbers have the deviation asked for, whatever the threads", "[cases]") {
    constexpr std::int64_t kCount = (std::int64_t{1} << 20) + 5000;
    std::vector<std::uint16_t> one(kCount), three(kCount);
    ThreadPool pool_of_one(1), pool_of_three(3);
    fill_normal(pool_of_one, one.data(), kCount, 0.5F, 7);
    fill_normal(pool_of_three, three.data(), kCount, 0.5F, 7);
    CHECK(one == three);
    double sum = 0, squares = 0;
    for (const std::uint16_t bits : one) {
        const double value = join_master({bits, 0});
        sum += value;
        squares += value * value;
    }
    // The mean of a million numbers is within 4 of its deviations, 0.5 / 1000.
    CHECK(sum / kCount == Approx(0).margin(0.002));
    CHECK(squares / kCount == Approx(0.25).epsilon(0.01));
    // The numbers repeat after a million.
    CHECK(one.back() == one[4999]);
}

TEST_CASE("cases: a quarter of the host's memory is used, 24 GB at most", "[cases]") {
    HostFacts host;
    host.memory_total = Bytes{8} * 1'000'000'000;
    CHECK(host_memory_budget(host) == Bytes{2} * 1'000'000'000);
    host.memory_total = Bytes{128} * 1'000'000'000;
    CHECK(host_memory_budget(host) == Bytes{24} * 1'000'000'000);
    host.memory_total.reset();
    CHECK(host_memory_budget(host) == 1'000'000'000);
}

TEST_CASE("cases: the last level of cache is that of all the CPUs", "[cases]") {
    const std::filesystem::path root = std::filesystem::temp_directory_path() /
                                       ("sluice_last_level_cache_" + std::to_string(getpid()));
    const std::filesystem::path folder = root / "sys/devices/system/cpu/cpu0/cache/index3";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "size") << "32768K\n";
    std::ofstream(folder / "shared_cpu_list") << "0-7\n";
    HostFacts host;
    host.cpus.resize(20);  // 3 caches for 8 CPUs each
    CHECK(last_level_cache(host, root.string()) == 3 * 32 * kMiB);
    host.cpus.resize(2);
    CHECK(last_level_cache(host, root.string()) == 32 * kMiB);
    std::filesystem::remove_all(root);
    CHECK(last_level_cache(host, root.string()) == 0);
}

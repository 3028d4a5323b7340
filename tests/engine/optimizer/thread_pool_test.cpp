#include "engine/optimizer/thread_pool.h"

#include <sched.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "sim/base/input_error.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

int first_allowed_cpu() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    int cpu = 0;
    while (!CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) ++cpu;
    return cpu;
}

}  // namespace

TEST_CASE("thread pool: pieces cover every element once and are multiples of the grain",
          "[optimizer]") {
    ThreadPool pool(3);
    CHECK(pool.size() == 3);
    for (const std::int64_t count : {1, 99, 100, 101, 100000, 123457}) {
        std::vector<int> visits(static_cast<std::size_t>(count));
        std::atomic<int> ragged{0};
        pool.parallel_for(count, 100, [&](std::int64_t begin, std::int64_t end) {
            if (begin % 100 != 0 || (end % 100 != 0 && end != count)) ++ragged;
            for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
        });
        CAPTURE(count);
        CHECK(ragged == 0);
        CHECK(visits == std::vector<int>(static_cast<std::size_t>(count), 1));
    }
}

TEST_CASE("thread pool: nothing to do calls nothing", "[optimizer]") {
    ThreadPool pool(2);
    std::atomic<int> calls{0};
    pool.parallel_for(0, 10, [&](std::int64_t, std::int64_t) { ++calls; });
    CHECK(calls == 0);
}

TEST_CASE("thread pool: all workers take part, none of them the caller", "[optimizer]") {
    ThreadPool pool(4);
    std::mutex mutex;
    std::set<std::thread::id> threads;
    std::atomic<int> arrived{0};
    pool.parallel_for(4, 1, [&](std::int64_t, std::int64_t) {
        const std::lock_guard lock(mutex);
        threads.insert(std::this_thread::get_id());
        ++arrived;
    });
    CHECK(arrived == 4);
    CHECK(threads.count(std::this_thread::get_id()) == 0);
    // Each piece waits for the others: ends only if four threads run at once.
    std::atomic<int> waiting{0};
    pool.parallel_for(4, 1, [&](std::int64_t, std::int64_t) {
        ++waiting;
        while (waiting < 4) std::this_thread::yield();
    });
    CHECK(waiting == 4);
}

TEST_CASE("thread pool: many short calls one after another are all complete", "[optimizer]") {
    ThreadPool pool(2);
    std::atomic<std::int64_t> sum{0};
    for (int call = 0; call < 3000; ++call)
        pool.parallel_for(10, 1, [&](std::int64_t begin, std::int64_t) { sum += begin; });
    CHECK(sum == 3000 * 45);
}

TEST_CASE("thread pool: an exception of a body reaches the caller and the pool works on",
          "[optimizer]") {
    ThreadPool pool(2);
    const auto failing = [](std::int64_t begin, std::int64_t) {
        if (begin == 7) throw std::runtime_error("piece 7");
    };
    CHECK_THROWS_WITH(pool.parallel_for(100, 1, failing), "piece 7");
    std::atomic<int> calls{0};
    pool.parallel_for(5, 1, [&](std::int64_t, std::int64_t) { ++calls; });
    CHECK(calls == 5);
}

TEST_CASE("thread pool: a call within a call is refused, not waited for", "[optimizer]") {
    ThreadPool pool(2);
    const auto nested = [&](std::int64_t, std::int64_t) {
        pool.parallel_for(1, 1, [](std::int64_t, std::int64_t) {});
    };
    CHECK_THROWS_AS(pool.parallel_for(1, 1, nested), InternalError);
}

TEST_CASE("thread pool: workers run on the CPUs given", "[optimizer]") {
    const int cpu = first_allowed_cpu();
    ThreadPool pool(2, {cpu});
    std::atomic<int> elsewhere{0};
    pool.parallel_for(100, 1, [&](std::int64_t, std::int64_t) {
        if (sched_getcpu() != cpu) ++elsewhere;
    });
    CHECK(elsewhere == 0);
}

TEST_CASE("thread pool: CPUs that are not there and no threads are refused", "[optimizer]") {
    CHECK_THROWS_AS(ThreadPool(1, {-1}), InputError);
    CHECK_THROWS_WITH(ThreadPool(1, {CPU_SETSIZE - 1}), ContainsSubstring("CPU 1023"));
    CHECK_THROWS_WITH(ThreadPool(0), ContainsSubstring("host threads: 0, expected 1 or more"));
}

#include "engine/optimizer/thread_pool.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include "sim/base/input_error.h"

namespace sluice {

namespace {

/// Pieces per thread: the last one to finish is late by at most 1/32 of its share.
constexpr std::int64_t kPiecesPerThread = 32;

/// How long a thread polls before it sleeps: about the cost of waking it up.
constexpr std::chrono::microseconds kSpin{5};

inline void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/// Whether `ready` became true within kSpin.
template <class Ready>
bool spin_until(const Ready& ready) {
    const auto end = std::chrono::steady_clock::now() + kSpin;
    do {
        if (ready()) return true;
        relax();
    } while (std::chrono::steady_clock::now() < end);
    return false;
}

void pin(std::thread& thread, int cpu) {
    if (cpu < 0 || cpu >= CPU_SETSIZE)
        throw InputError(
            fmt::format("host threads: CPU {} to pin to, expected 0 to {}", cpu, CPU_SETSIZE - 1));
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cpu), &set);
    const int error = pthread_setaffinity_np(thread.native_handle(), sizeof set, &set);
    if (error != 0)
        throw InputError(fmt::format(
            "host threads: can not pin to CPU {} ({}), expected one that this process may use: see "
            "taskset -p",
            cpu, std::strerror(error)));
}

}  // namespace

/// Every worker takes part in every call. A call ends when `working` is 0; then no worker reads the
/// job any more, so the next call may change it.
struct ThreadPool::State {
    std::vector<std::thread> workers;
    std::atomic<bool> in_call{false};

    // The job, written before `calls` is incremented.
    const std::function<void(std::int64_t, std::int64_t)>* body = nullptr;
    std::int64_t count = 0, piece = 1;
    alignas(64) std::atomic<std::int64_t> next{0};  // first element that no worker has claimed

    alignas(64) std::atomic<std::uint64_t> calls{0};
    alignas(64) std::atomic<int> working{0};
    std::atomic<bool> stop{false};
    std::mutex mutex;
    std::condition_variable start, done;
    std::exception_ptr error;  // the first, under `mutex`

    ~State() {
        {
            const std::lock_guard lock(mutex);
            stop = true;
        }
        start.notify_all();
        for (std::thread& worker : workers) worker.join();
    }

    void work() {
        for (std::uint64_t seen = 0;;) {
            const auto news = [&] { return stop || calls != seen; };
            if (!spin_until(news)) {
                std::unique_lock lock(mutex);
                start.wait(lock, news);
            }
            if (stop) return;
            seen = calls;
            take_pieces();
            if (--working == 0) {
                const std::lock_guard lock(mutex);
                done.notify_one();
            }
        }
    }

    void take_pieces() {
        try {
            for (std::int64_t begin; (begin = next.fetch_add(piece)) < count;)
                (*body)(begin, std::min(begin + piece, count));
        } catch (...) {
            next = count;  // nothing more to claim
            const std::lock_guard lock(mutex);
            if (!error) error = std::current_exception();
        }
    }

    void call() {
        const int all = static_cast<int>(workers.size());
        {
            const std::lock_guard lock(mutex);
            error = nullptr;
            next = 0;
            working = all;
            ++calls;
        }
        start.notify_all();
        const auto finished = [&] { return working == 0; };
        if (!spin_until(finished)) {
            std::unique_lock lock(mutex);
            done.wait(lock, finished);
        }
    }
};

ThreadPool::ThreadPool(int threads, std::vector<int> cpus) : state_(std::make_unique<State>()) {
    if (threads < 1) throw InputError(fmt::format("host threads: {}, expected 1 or more", threads));
    for (int i = 0; i < threads; ++i) {
        std::thread& worker =
            state_->workers.emplace_back([state = state_.get()] { state->work(); });
        if (!cpus.empty()) pin(worker, cpus[static_cast<std::size_t>(i) % cpus.size()]);
    }
}

ThreadPool::~ThreadPool() = default;

int ThreadPool::size() const { return static_cast<int>(state_->workers.size()); }

void ThreadPool::parallel_for(std::int64_t count, std::int64_t grain,
                              const std::function<void(std::int64_t, std::int64_t)>& body) {
    if (grain < 1)
        throw InternalError(fmt::format("thread pool: grain is {}, expected 1 or more", grain));
    if (count <= 0) return;
    if (state_->in_call.exchange(true))
        throw InternalError("thread pool: parallel_for was called within or during another call");
    const std::int64_t grains = (count + grain - 1) / grain;
    state_->body = &body;
    state_->count = count;
    state_->piece = grain * std::max<std::int64_t>(1, grains / (size() * kPiecesPerThread));
    state_->call();
    std::exception_ptr error;
    {
        const std::lock_guard lock(state_->mutex);
        std::swap(error, state_->error);
    }
    state_->in_call = false;
    if (error) std::rethrow_exception(error);
}

}  // namespace sluice

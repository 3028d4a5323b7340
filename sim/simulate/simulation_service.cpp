#include "sim/simulate/simulation_service.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <deque>
#include <future>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace sluice {
namespace {

thread_local SimulationScope* innermost = nullptr;

/// Guards `watcher`, the function of the WorkWatch.
std::mutex watching;
std::function<void(std::size_t)> watcher;
std::atomic<bool> is_watched = false;
std::atomic<std::size_t> work_begun = 0;

/// Lives as long as the process, like SimGrid's engine.
class SimulationThread {
  public:
    static SimulationThread& instance() {
        static SimulationThread* const the_thread = new SimulationThread;
        return *the_thread;
    }

    void run(Urgency urgency, const std::function<void()>& work) {
        if (std::this_thread::get_id() == thread_.get_id()) return work();
        std::packaged_task<void()> task(work);
        std::future<void> done = task.get_future();
        {
            const std::lock_guard lock(mutex_);
            waiting_[static_cast<std::size_t>(urgency)].push_back(std::move(task));
        }
        posted_.notify_one();
        done.get();
    }

  private:
    SimulationThread() : thread_([this] { serve(); }) {}

    [[noreturn]] void serve() {
        while (true) {
            std::unique_lock lock(mutex_);
            posted_.wait(lock, [this] { return !waiting_[0].empty() || !waiting_[1].empty(); });
            auto& queue = waiting_[waiting_[0].empty() ? 1 : 0];
            std::packaged_task<void()> task = std::move(queue.front());
            queue.pop_front();
            lock.unlock();
            task();
        }
    }

    std::mutex mutex_;
    std::condition_variable posted_;
    std::array<std::deque<std::packaged_task<void()>>, 2> waiting_;  ///< by urgency
    std::thread thread_;  // last member, since it uses the others
};

/// State shared by the processes of in_processes().
struct Shared {
    std::atomic<std::size_t> next = 0, done = 0;
    std::atomic<bool> failed = false;
    char message[2048] = {};  ///< of the first copy that failed
};

class Processes {
  public:
    Processes(std::size_t count, const std::function<void(std::size_t)>& work)
        : count_(count), work_(work), shared_(*new (memory_.data()) Shared) {}
    ~Processes() {
        shared_.next = count_;  // after an exception the copies end with their current work
        (void)wait();
    }

    void start() {
        const pid_t parent = getpid(), process = fork();
        if (process < 0) throw std::runtime_error("no process for a part of the search");
        if (process > 0) return copies_.push_back(process);
        std::signal(SIGINT, SIG_IGN);  // the parent handles it, and ends its copies
        is_watched = false;            // and shows progress
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent) run_copy();
        _exit(0);
    }

    void take_part(const std::function<void(std::size_t)>& done) {
        for (std::size_t i; !shared_.failed && (i = shared_.next++) < count_;) {
            work_(i);
            ++shared_.done;
            if (done) done(shared_.done);
        }
    }

    void finish() {
        const bool all_ended_well = wait();
        if (shared_.failed) throw std::runtime_error(shared_.message);
        if (!all_ended_well)
            throw std::runtime_error("a process of the search ended early; out of memory?");
    }

  private:
    void run_copy() {
        try {
            take_part({});
        } catch (const std::exception& error) {
            if (!shared_.failed.exchange(true))
                std::strncpy(shared_.message, error.what(), sizeof shared_.message - 1);
        }
    }

    bool wait() {
        bool well = true;
        for (const pid_t process : std::exchange(copies_, {})) {
            int status = 0;
            while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
            well = well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
        return well;
    }

    const std::size_t count_;
    const std::function<void(std::size_t)>& work_;
    const SharedMemory memory_{sizeof(Shared)};
    Shared& shared_;
    std::vector<pid_t> copies_;
};

}  // namespace

SimulationScope::SimulationScope(std::stop_token stop, Urgency urgency)
    : stop_(std::move(stop)), urgency_(urgency), outer_(innermost) {
    innermost = this;
}

SimulationScope::~SimulationScope() { innermost = outer_; }

WorkWatch::WorkWatch(std::function<void(std::size_t begun)> report) {
    const std::lock_guard lock(watching);
    watcher = std::move(report);
    work_begun = 0;
    is_watched = true;
}

WorkWatch::~WorkWatch() {
    const std::lock_guard lock(watching);
    is_watched = false;
    watcher = {};
}

void still_working() {
    if (!is_watched) return;
    const std::unique_lock lock(watching, std::try_to_lock);
    if (lock && watcher) watcher(work_begun);
}

std::stop_token begin_simulation() {
    ++work_begun;
    still_working();
    if (innermost == nullptr) return {};
    if (innermost->stop_.stop_requested()) throw Cancelled();
    return innermost->stop_;
}

void on_simulation_thread(const std::function<void()>& work) {
    SimulationThread::instance().run(innermost == nullptr ? Urgency::now : innermost->urgency_,
                                     work);
}

void in_processes(int processes, std::size_t count, const std::function<void(std::size_t)>& work,
                  const std::function<void(std::size_t)>& done) {
    Processes all(count, work);
    const int most = static_cast<int>(std::min(count, static_cast<std::size_t>(processes)));
    if (most < 2) return all.take_part(done);
    // A copy has only the thread that forked it, which must therefore be SimGrid's.
    on_simulation_thread([&] {
        for (int i = 1; i < most; ++i) all.start();
        all.take_part(done);
        all.finish();
    });
}

void in_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    std::exception_ptr failure;
    std::mutex failing;
    const SimulationScope* const scope = innermost;
    const auto take_part = [&] {
        std::optional<SimulationScope> own;
        if (scope != nullptr) own.emplace(scope->stop_, scope->urgency_);
        try {
            for (std::size_t i; (i = next++) < count;) work(i);
        } catch (...) {
            const std::lock_guard lock(failing);
            if (!failure) failure = std::current_exception();
            next = count;
        }
    };
    {
        const std::size_t most = std::min(count, static_cast<std::size_t>(usable_processors()));
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < most; ++i) others.emplace_back(take_part);
        take_part();
    }
    if (failure) std::rethrow_exception(failure);
}

int usable_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return std::max(1, CPU_COUNT(&set));
}

SharedMemory::SharedMemory(std::size_t bytes)
    : bytes_(std::max<std::size_t>(1, bytes)),
      data_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
}

SharedMemory::~SharedMemory() { munmap(data_, bytes_); }

}  // namespace sluice

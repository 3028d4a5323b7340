// Is it an error that can be caught if the system starts no more threads?
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <system_error>
#include <thread>
#include <vector>

#include "engine/run/lane_runner.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

/// Only so much more address space, until its end.
class SpaceLimit {
  public:
    explicit SpaceLimit(rlim_t more) {
        getrlimit(RLIMIT_AS, &before_);
        rlim_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        const rlimit now{pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more,
                         before_.rlim_max};
        setrlimit(RLIMIT_AS, &now);
    }
    ~SpaceLimit() { setrlimit(RLIMIT_AS, &before_); }
    SpaceLimit(const SpaceLimit&) = delete;
    SpaceLimit& operator=(const SpaceLimit&) = delete;

  private:
    rlimit before_{};
};

/// Threads that hold the stacks that the C library keeps of threads that have ended.
class IdleThreads {
  public:
    IdleThreads() {
        mutex_.lock();
        for (int i = 0; i < 16; ++i)
            threads_.emplace_back([this] { const std::lock_guard wait(mutex_); });
    }
    ~IdleThreads() {
        mutex_.unlock();
        for (std::thread& thread : threads_) thread.join();
    }
    IdleThreads(const IdleThreads&) = delete;
    IdleThreads& operator=(const IdleThreads&) = delete;

  private:
    std::mutex mutex_;
    std::vector<std::thread> threads_;
};

}  // namespace

#if !defined(__SANITIZE_ADDRESS__)  // it reserves far more address space
TEST_CASE("lane runner: a thread that cannot be started ends those that were", "[run]") {
    StepProgram program;
    for (std::size_t i = 0; i < kWorkCount; ++i)
        program.operations.emplace_back().lane = Lane::at(i);
    const std::unique_ptr<Device> device = make_cpu_device(1);
    const IdleThreads others;
    rlimit stack{};
    getrlimit(RLIMIT_STACK, &stack);
    // Room for one or two stacks of so many.
    const SpaceLimit limit(stack.rlim_cur * 3 / 2);
    CHECK_THROWS_AS(LaneRunner(program, *device, [](OperationId, std::int64_t) {}),
                    std::system_error);
}
#endif

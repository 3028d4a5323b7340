// Where do simulations run? On one thread of the process, as SimGrid has one engine, which belongs
// to the thread that first used it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace sluice {

class SimulationThread {
  public:
    static SimulationThread& instance();
    /// Runs `work` after all that was posted before. It must not throw.
    void post(std::function<void()> work);
    /// Returns when all that was posted before has run.
    void wait();

  private:
    SimulationThread();
    void run(const std::stop_token& stop);

    std::mutex mutex_;
    std::condition_variable_any posted_;
    std::deque<std::function<void()>> work_;
    std::jthread thread_;  // last: it uses the others
};

}  // namespace sluice

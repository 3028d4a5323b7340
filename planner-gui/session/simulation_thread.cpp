#include "planner-gui/session/simulation_thread.h"

#include <future>
#include <utility>

namespace sluice {

SimulationThread& SimulationThread::instance() {
    static SimulationThread the_thread;
    return the_thread;
}

SimulationThread::SimulationThread()
    : thread_([this](const std::stop_token& stop) { run(stop); }) {}

void SimulationThread::post(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    posted_.notify_one();
}

void SimulationThread::wait() {
    std::promise<void> done;
    post([&done] { done.set_value(); });
    done.get_future().wait();
}

void SimulationThread::run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (posted_.wait(lock, stop, [this] { return !work_.empty(); })) {
        const std::function<void()> work = std::move(work_.front());
        work_.pop_front();
        lock.unlock();
        work();
        lock.lock();
    }
}

}  // namespace sluice

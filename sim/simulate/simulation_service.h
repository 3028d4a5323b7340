// Which simulation runs next, and where? SimGrid has one engine per process, bound to the thread
// that made it. So one thread runs all simulations with SimGrid; other threads hand theirs over and
// wait. Quick steps run on the threads that ask for them.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <stop_token>

namespace sluice {

/// Thrown by simulate_step(), quick_step() and their callers when the SimulationScope asks to stop.
class Cancelled : public std::exception {
  public:
    const char* what() const noexcept override { return "the simulation was stopped"; }
};

/// Urgent simulations, which a user in front of a window waits for, run before all others.
enum class Urgency : std::uint8_t { now, later };

/// During its lifetime, simulations of this thread have this urgency and end when `stop` requests
/// it. Scopes may be nested; the innermost counts. Without a scope: urgent, and never stopped.
class SimulationScope {
  public:
    SimulationScope(std::stop_token stop, Urgency urgency);
    ~SimulationScope();
    SimulationScope(const SimulationScope&) = delete;
    SimulationScope& operator=(const SimulationScope&) = delete;

  private:
    friend std::stop_token begin_simulation();
    friend void on_simulation_thread(const std::function<void()>& work);
    friend void in_threads(std::size_t count, const std::function<void(std::size_t)>& work);
    const std::stop_token stop_;
    const Urgency urgency_;
    SimulationScope* const outer_;
};

/// Throws Cancelled if this thread's scope was asked to stop. Call it before work of milliseconds.
std::stop_token begin_simulation();

/// During its lifetime `report` gets, one thread at a time, how many pieces of work have begun:
/// whenever one begins, and during long ones. There is one at a time.
class WorkWatch {
  public:
    explicit WorkWatch(std::function<void(std::size_t begun)> report);
    ~WorkWatch();
    WorkWatch(const WorkWatch&) = delete;
    WorkWatch& operator=(const WorkWatch&) = delete;
};

/// Tells the WorkWatch, if there is one, that work goes on.
void still_working();

/// Runs `work` on the simulation thread and returns when it is done; throws what it throws. If
/// several wait, the urgent runs first. On the simulation thread itself it runs at once. A handover
/// takes some microseconds, a simulation 100 us to 100 ms.
void on_simulation_thread(const std::function<void()>& work);

/// Runs work(0) ... work(count - 1), each once, on `processes` processes (this one and copies of
/// it, since one process has one engine) and returns when all are done. Results of a copy reach the
/// caller only through SharedMemory. After each piece of its own work, this process calls `done`
/// with the number of finished pieces. 10,080 configurations take half the time on two cores.
/// Throws an exception of a piece of work (for a copy, std::runtime_error with its message), or one
/// that a copy has died.
void in_processes(int processes, std::size_t count, const std::function<void(std::size_t)>& work,
                  const std::function<void(std::size_t done)>& done = {});

/// Runs work(0) ... work(count - 1), each once, on as many threads as there are processors, in the
/// scope of this thread, and returns when all are done. Plans are made side by side; simulations
/// with SimGrid take turns. Throws the first exception of a piece of work, after which no other
/// piece begins.
void in_threads(std::size_t count, const std::function<void(std::size_t)>& work);

int usable_processors();

/// Zeroed memory that copies of this process share. Throws std::bad_alloc.
class SharedMemory {
  public:
    explicit SharedMemory(std::size_t bytes);
    ~SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    void* data() const { return data_; }

  private:
    const std::size_t bytes_;
    void* data_;
};

}  // namespace sluice

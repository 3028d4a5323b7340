// Who may simulate, and who goes first? SimGrid has one engine a process, bound to the thread that
// made it, so one thread runs all simulations; any other thread hands it its own and waits.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <stop_token>

namespace sluice {

/// Thrown by simulate_step(), and by all that simulates, when its SimulationScope asks to stop.
class Cancelled : public std::exception {
  public:
    const char* what() const noexcept override { return "the simulation was stopped"; }
};

/// A simulation that somebody waits for in front of a window runs before all others that wait.
enum class Urgency : std::uint8_t { now, later };

/// While it lives, simulations of the thread that made it have this urgency and end when `stop`
/// asks for it. Scopes may be nested: the innermost counts. Without one: urgent, and never stopped.
class SimulationScope {
  public:
    SimulationScope(std::stop_token stop, Urgency urgency);
    ~SimulationScope();
    SimulationScope(const SimulationScope&) = delete;
    SimulationScope& operator=(const SimulationScope&) = delete;

  private:
    friend std::stop_token begin_simulation();
    friend void on_simulation_thread(const std::function<void()>& work);
    const std::stop_token stop_;
    const Urgency urgency_;
    SimulationScope* const outer_;
};

/// The token that the work of this thread must obey. Call it before work of milliseconds: it throws
/// Cancelled where the scope was asked to stop.
std::stop_token begin_simulation();

/// Runs `work` on the simulation thread and returns when it is done; throws what it throws. Between
/// two pieces of work that wait, the urgent one goes first. On the simulation thread itself it runs
/// at once. A handover takes some microseconds, a simulation 100 us to 100 ms.
void on_simulation_thread(const std::function<void()>& work);

/// Runs work(0) ... work(count - 1), each once, on `processes` processes (this one and copies of
/// it, as one process has one engine) and returns when all are done. Work in a copy reaches the
/// caller only through SharedMemory. Calls `done` in this process after each piece of its own work
/// with how many are done. 10,080 configurations take half the time on two cores. Throws what a
/// work threw (of a copy, std::runtime_error with its sentence), or where a copy died.
void in_processes(int processes, std::size_t count, const std::function<void(std::size_t)>& work,
                  const std::function<void(std::size_t done)>& done = {});

/// Processors that this process may use.
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

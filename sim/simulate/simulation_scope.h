// May the simulations of this thread be stopped, and what runs between two of them? A window must
// not wait for work that nobody wants any more.
#pragma once

#include <exception>
#include <functional>
#include <stop_token>

namespace sluice {

/// Thrown by simulate_step(), and so by all that simulates, when its scope was asked to stop.
class Cancelled : public std::exception {
  public:
    const char* what() const noexcept override { return "the simulation was stopped"; }
};

/// While it lives, the simulations of the thread that made it stop when `stop` says so, and before
/// each of them `between` is called, which may simulate itself within a scope of its own. Scopes
/// may be nested: the innermost counts.
class SimulationScope {
  public:
    explicit SimulationScope(std::stop_token stop, std::function<void()> between = {});
    ~SimulationScope();
    SimulationScope(const SimulationScope&) = delete;
    SimulationScope& operator=(const SimulationScope&) = delete;

  private:
    friend std::stop_token begin_simulation();
    std::stop_token stop_;
    std::function<void()> between_;
    SimulationScope* outer_;
};

/// Called before a simulation, or other work of milliseconds: calls what runs between two, and
/// returns the token to obey. Throws Cancelled where it has been asked to stop.
std::stop_token begin_simulation();

}  // namespace sluice

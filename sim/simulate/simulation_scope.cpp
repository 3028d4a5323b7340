#include "sim/simulate/simulation_scope.h"

#include <utility>

namespace sluice {
namespace {

thread_local SimulationScope* innermost = nullptr;

}  // namespace

SimulationScope::SimulationScope(std::stop_token stop, std::function<void()> between)
    : stop_(std::move(stop)), between_(std::move(between)), outer_(innermost) {
    innermost = this;
}

SimulationScope::~SimulationScope() { innermost = outer_; }

std::stop_token begin_simulation() {
    const SimulationScope* const scope = innermost;
    if (scope == nullptr) return {};
    if (scope->stop_.stop_requested()) throw Cancelled();
    if (scope->between_) scope->between_();
    if (scope->stop_.stop_requested()) throw Cancelled();
    return scope->stop_;
}

}  // namespace sluice

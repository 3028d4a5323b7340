#include "sim/simulate/simulate_step.h"

#include <algorithm>
#include <optional>

#include "sim/simulate/quick_run.h"
#include "sim/simulate/repeated_micro_batches.h"

namespace sluice {
namespace {

using Run = decltype(run_steps);  ///< or run_quickly
constexpr Seconds kAllSteps = std::numeric_limits<Seconds>::infinity();

/// A steady step is the mean of the last two; an unsteady one the mean of the last half.
SimulatedStep result(const RunSteps& run) {
    SimulatedStep out;
    if (run.slower_than_worth > 0) {
        out.step = run.slower_than_worth;
        return out;
    }
    const std::size_t n = run.compute_ends.size();
    out.steps = static_cast<int>(n);
    out.steady = run.steady;
    const std::size_t from = run.steady ? n - 2 : n / 2;  // at least two steps have run
    out.step =
        (run.compute_ends[n - 1] - run.compute_ends[from]) / static_cast<double>(n - 1 - from);
    for (const OperationInterval& interval : run.intervals.front())
        out.first_step = std::max(out.first_step, interval.end);
    // Not the last step, which runs without a next step at the same time.
    out.operations = run.intervals[n - 2];
    return out;
}

/// Simulates `keep` of the equal micro-batches; empty if they do not repeat in every step, or the
/// steps do not become steady.
std::optional<SimulatedStep> from_fewer(const std::vector<LaneOperation>& work,
                                        const AlikeMicroBatches& alike, std::size_t keep,
                                        const MachineSpec& machine, const TrainingSpec& training,
                                        Run& run_by) {
    const auto fewer = with_fewer(work, alike, keep);
    if (!fewer) return std::nullopt;
    const RunSteps run = run_by(*fewer, machine, training, kAllSteps);
    if (!run.steady) return std::nullopt;
    SimulatedStep out = result(run);
    for (std::size_t step = 0; step + 1 < run.compute_ends.size(); ++step) {
        auto whole = with_all(run, step, alike, keep);
        if (!whole) return std::nullopt;
        if (step == 0) out.first_step += whole->longer;
        if (step + 2 < run.compute_ends.size()) continue;
        out.step += whole->longer;
        out.operations = std::move(whole->intervals);
    }
    return out;
}

SimulatedStep from_idle(const StepProgram& program, const std::vector<FlowDemand>& demands,
                        const MachineSpec& machine, const TrainingSpec& training, Seconds worth,
                        Run& run_by) {
    const std::vector<LaneOperation> work = lane_operations(program, demands);
    const AlikeMicroBatches alike = alike_micro_batches(program, work);
    constexpr std::size_t kFew[] = {8, 32};
    for (const std::size_t keep : kFew) {
        if (2 * alike.count < 3 * keep) break;
        if (auto out = from_fewer(work, alike, keep, machine, training, run_by))
            return *std::move(out);
    }
    return result(run_by(work, machine, training, worth));
}

SimulatedStep simulate(const StepProgram& program, const std::vector<FlowDemand>& demands,
                       const MachineSpec& machine, const TrainingSpec& training, Seconds worth,
                       Run& run_by) {
    SimulatedStep out = from_idle(program, demands, machine, training, worth, run_by);
    if (out.ended_early()) return out;
    if (program.style == KernelStyle::fused) out.first_step += machine.gpu.first_step_extra;
    const auto compute =
        std::find_if(program.operations.begin(), program.operations.end(),
                     [](const Operation& operation) { return operation.lane == kFirstCompute; });
    const Seconds zero =
        out.operations[static_cast<std::size_t>(compute - program.operations.begin())].start;
    for (OperationInterval& interval : out.operations)
        interval = {interval.start - zero, interval.end - zero};
    return out;
}

}  // namespace

SimulatedStep simulate_step(const StepPlan& plan, const MachineSpec& machine,
                            const TrainingSpec& training, Seconds worth) {
    return simulate(plan.program, operation_demands(plan.program, machine, training), machine,
                    training, worth, run_steps);
}

SimulatedStep quick_step(const StepPlan& plan, const MachineSpec& machine,
                         const TrainingSpec& training) {
    return quick_step(plan.program, operation_demands(plan.program, machine, training), machine,
                      training, kAllSteps);
}

SimulatedStep quick_step(const StepProgram& program, const std::vector<FlowDemand>& demands,
                         const MachineSpec& machine, const TrainingSpec& training, Seconds worth) {
    return simulate(program, demands, machine, training, worth, run_quickly);
}

}  // namespace sluice

#include "sim/simulate/simulate_step.h"

#include <algorithm>
#include <optional>

#include "sim/simulate/repeated_micro_batches.h"

namespace sluice {
namespace {

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

/// With all micro-batches; the groups of rows that do not repeat in some step.
WholeStep with_all_of_run(const RunSteps& run, const std::vector<LaneWork>& fewer,
                          const std::vector<ShortRow>& rows, SimulatedStep& out) {
    WholeStep last;
    for (std::size_t step = 0; step + 1 < run.compute_ends.size(); ++step) {
        last = with_all(run, step, fewer, rows);
        if (!last.not_repeating.empty()) break;
        if (step == 0) out.first_step += last.longer;
    }
    return last;
}

/// Simulates a few of the equal micro-batches. Rows of them that do not repeat get more, in turn;
/// empty if too few are left out, or the steps do not become steady.
std::optional<SimulatedStep> from_fewer(const StepProgram& program,
                                        const std::vector<LaneWork>& work,
                                        const MachineSpec& machine, const TrainingSpec& training) {
    constexpr std::size_t kFew = 8, kMoreEachTime = 4;
    const std::vector<AlikeMicroBatches> alike = alike_micro_batches(program, work);
    std::vector<std::size_t> keep(alike.size(), kFew);
    while (true) {
        const std::vector<ShortRow> rows = short_rows(alike, keep);
        if (rows.empty()) return std::nullopt;
        const auto fewer = with_fewer(work, rows);
        if (!fewer || 3 * fewer->size() > 2 * work.size()) return std::nullopt;
        const RunSteps run = run_steps(*fewer, machine, training);
        if (run.steady) {
            SimulatedStep out = result(run);
            WholeStep whole = with_all_of_run(run, *fewer, rows, out);
            if (whole.not_repeating.empty()) {
                out.step += whole.longer;
                out.operations = std::move(whole.intervals);
                return out;
            }
            std::ranges::sort(whole.not_repeating);
            const auto same = std::ranges::unique(whole.not_repeating);
            whole.not_repeating.erase(same.begin(), same.end());
            for (const std::size_t group : whole.not_repeating) keep[group] *= kMoreEachTime;
        } else {
            for (std::size_t& each : keep) each *= kMoreEachTime;
        }
    }
}

SimulatedStep simulate(const StepPlan& plan, const MachineSpec& machine,
                       const TrainingSpec& training, Seconds worth) {
    const std::vector<LaneWork> work = lane_work(plan.program, machine, training);
    if (auto out = from_fewer(plan.program, work, machine, training)) return *std::move(out);
    return result(run_steps(work, machine, training, worth));
}

}  // namespace

SimulatedStep simulate_step(const StepPlan& plan, const MachineSpec& machine,
                            const TrainingSpec& training, Seconds worth) {
    SimulatedStep out = simulate(plan, machine, training, worth);
    if (out.ended_early()) return out;
    if (plan.program.style == KernelStyle::fused) out.first_step += machine.gpu.first_step_extra;
    const auto compute =
        std::find_if(plan.program.operations.begin(), plan.program.operations.end(),
                     [](const Operation& operation) { return operation.lane == Lane::compute; });
    const Seconds zero =
        out.operations[static_cast<std::size_t>(compute - plan.program.operations.begin())].start;
    for (OperationInterval& interval : out.operations)
        interval = {interval.start - zero, interval.end - zero};
    return out;
}

}  // namespace sluice

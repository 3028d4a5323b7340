// How long does a prediction take in process, and how does it grow with layers? Median of
// repetitions; no test asserts it.
//   ./dev bench [machine]
//   ./dev bench search               the rate of sluice sweep
//   ./dev bench advice [batch]       how near sluice advise comes to the best
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "bench/search_bench.h"
#include "sim/answers/predict/predict.h"
#include "sim/simulate/simulate_step.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"

namespace {

using namespace sluice;

/// Median milliseconds of `work` over at least half a second and five runs.
double median_ms(const std::function<void()>& work) {
    using Clock = std::chrono::steady_clock;
    constexpr std::size_t kFewestRuns = 5;
    work();
    std::vector<double> runs;
    const auto begin = Clock::now();
    while (runs.size() < kFewestRuns || Clock::now() - begin < std::chrono::milliseconds(500)) {
        const auto start = Clock::now();
        work();
        runs.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    std::nth_element(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2),
                     runs.end());
    return runs[runs.size() / 2];
}

void bench_row(const MachineSpec& machine, int layers, Schedule schedule) {
    const ModelSpec model = parse_generic_model(fmt::format("layers={},hidden=8192", layers));
    TrainingSpec training;
    training.batch = 16;
    training.schedule = schedule;
    const StepPlan plan = plan_step(model, machine, training);
    const SimulatedStep step = simulate_step(plan, machine, training);
    const double planned = median_ms([&] { (void)plan_step(model, machine, training); });
    const double simulated = median_ms([&] { (void)simulate_step(plan, machine, training); });
    const double predicted = median_ms([&] { (void)predict(model, machine, training); });
    fmt::print("{:<10} {:>6} {:>10} {:>6} {:>9.2f} {:>12.2f} {:>11.2f} {:>13.1f}\n", schedule->name,
               layers, plan.program.operations.size(), step.steps, planned, simulated, predicted,
               1000 * predicted / layers);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "h200-sxm-pcie5";
    if (what == "search" || what == "advice") {
        what == "search" ? bench_search() : bench_advice(argc > 2 ? std::stoll(argv[2]) : 16, 220);
        return 0;
    }
    const MachineSpec machine = resolve_machine(read_machine_profile(what));
    fmt::print("{:<10} {:>6} {:>10} {:>6} {:>9} {:>12} {:>11} {:>13}\n", "schedule", "layers",
               "operations", "steps", "plan ms", "simulate ms", "predict ms", "us per layer");
    for (const Schedule schedule : {Schedule("streamed"), Schedule("megatrain")}) {
        for (const int layers : {8, 80, 800}) bench_row(machine, layers, schedule);
    }
}

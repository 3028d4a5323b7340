// How long does a prediction take in process, and how does it grow with layers? Median of
// repetitions; no test asserts it.
//   ./dev bench [machine]
//   ./dev bench search               the rate of sluice sweep
//   ./dev bench advice [batch]       how near sluice advise comes to the best
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/answers/predict/predict.h"
#include "sim/answers/search/advise.h"
#include "sim/base/input_error.h"
#include "sim/command_line/program.h"
#include "sim/simulate/simulate_step.h"
#include "sim/simulate/simulation_service.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"

namespace {

using namespace sluice;
using Clock = std::chrono::steady_clock;

/// Median milliseconds of `work` over at least half a second and five runs.
double median_ms(const std::function<void()>& work) {
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

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

OptionAxis axis(std::string_view field, const std::string& values) {
    for (const Option& option : training_options())
        if (field == option.field) return parse_axis(option, values, std::string(field));
    return {};
}

/// 10,080 configurations of 28 to 80 layers.
ScenarioGrid bench_grid() {
    ScenarioGrid grid;
    for (const char* name : {"qwen2.5-7b", "llama-3.1-8b", "qwen3-14b", "qwen2.5-14b",
                             "qwen2.5-32b", "qwen3-32b", "qwen2.5-72b", "llama-3.1-70b"})
        grid.models.push_back(read_model(name));
    for (const char* name : {"h200-sxm-pcie5-1.5tb", "h200-pcie5-16vcpu-128gib", "gh200-480gb",
                             "h100-sxm-pcie5", "gb200"})
        grid.machines.push_back(resolve_machine(read_machine_profile(name)));
    grid.choices = {axis("batch", "4,8,16,32,64,128,256"), axis("micro_batch", "0,4"),
                    axis("buffer_depth", "1,2,3"), axis("recompute", "full,keep_attention,none"),
                    axis("checkpoints", "device,host")};
    return grid;
}

/// Configurations per second of predict() calls one after another, over an even sample.
double naive_rate(const ScenarioGrid& grid) {
    constexpr std::size_t kSample = 200;
    std::size_t done = 0;
    const auto start = Clock::now();
    for (std::size_t i = 0; i < kSample; ++i) {
        const GridPoint point = grid.at(i * (grid.size() / kSample) + i % 7);
        (void)predict(*point.model, *point.machine, point.training);
        ++done;
    }
    return static_cast<double>(done) / seconds_since(start);
}

/// Prints the rate of a sweep of some 10,000 configurations over the rate of a loop of predict().
/// Precondition: nothing has been simulated in this process.
void bench_search() {
    const ScenarioGrid grid = bench_grid();
    const int processors = usable_processors();
    for (const int workers : {1, processors}) {
        const auto start = Clock::now();
        SearchOptions options;
        options.processes = workers;
        const std::vector<SearchRow> rows = search(grid, options);
        const double seconds = seconds_since(start);
        const auto simulated = std::count_if(rows.begin(), rows.end(), [](const SearchRow& row) {
            return row.state == RowState::simulated;
        });
        fmt::print(
            "sweep: {} configurations, {} simulated, the best of each pair with its band: "
            "{:.2f} s, {:.0f} a second with {} workers\n",
            rows.size(), simulated, seconds, static_cast<double>(rows.size()) / seconds, workers);
        const double naive = naive_rate(grid);
        fmt::print("  a loop of predict() without bands: {:.0f} a second; ratio {:.0f}\n", naive,
                   static_cast<double>(rows.size()) / seconds / naive);
        if (processors == 1) break;
    }
}

struct Pair {
    std::string model, machine;
};

/// Every model on every machine whose profile is complete, in an order that mixes both.
std::vector<Pair> all_pairs() {
    std::vector<Pair> pairs;
    const std::vector<std::string> models = library_models(), machines = library_machines();
    const std::size_t count = models.size() * machines.size();
    constexpr std::size_t kStride = 10'007;  // a prime that divides no such count
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = i * kStride % count;
        pairs.push_back({models[at % models.size()], machines[at / models.size()]});
    }
    return pairs;
}

struct AdviceCheck {
    double below = 0;    ///< over the best of all combinations
    double seconds = 0;  ///< of the advice
};

/// Empty if nothing fits.
std::optional<AdviceCheck> check_advice(const ScenarioGrid& grid, const AdviceRequest& request) {
    const auto start = Clock::now();
    const Advice advice = advise(grid, request, usable_processors());
    const double seconds = seconds_since(start);
    if (!advice.best) return std::nullopt;
    SearchOptions every;
    every.every_row = true;
    every.bands = BandsOf::none;
    double best = 0;
    every.processes = usable_processors();
    for (const SearchRow& row : search(grid, every))
        if (row.state == RowState::simulated)
            best = std::max(best, row.tokens_per_s(grid.at(row.index).training));
    return AdviceCheck{1 - advice.best->tokens_per_s() / best, seconds};
}

/// Prints how far advice is below the best of all combinations, for that many pairs of a model and
/// a machine on which it fits. Ten minutes for 200 pairs.
void bench_advice(std::int64_t batch, std::size_t pairs) {
    AdviceRequest request;
    request.given.batch = batch;
    request.fixed = {"batch"};
    std::vector<double> seconds;
    double worst = 0;
    for (const Pair& pair : all_pairs()) {
        if (seconds.size() == pairs) break;
        try {
            const MachineSpec machine = resolve_machine(read_machine_profile(pair.machine));
            const ScenarioGrid grid = advice_grid(read_model(pair.model), machine, request);
            const auto check = check_advice(grid, request);
            if (!check) continue;
            seconds.push_back(check->seconds);
            worst = std::max(worst, check->below);
            if (seconds.size() % 20 == 0)
                fmt::print(stderr, "{} pairs, worst {:.3f}% below\n", seconds.size(), 100 * worst);
        } catch (const InputError&) {
            continue;  // the profile needs a host memory size, or the model fewer tokens
        }
    }
    if (seconds.empty()) return;
    std::sort(seconds.begin(), seconds.end());
    fmt::print(
        "advise: {} pairs of model and machine at a batch of {}, at most {:.3f}% below the best of "
        "all combinations; {:.2f} s in the middle, longest {:.2f} s\n",
        seconds.size(), batch, 100 * worst, seconds[seconds.size() / 2], seconds.back());
}

constexpr std::size_t kAdvicePairs = 220;

void bench_predictions(const std::string& machine_name) {
    const MachineSpec machine = resolve_machine(read_machine_profile(machine_name));
    fmt::print("{:<10} {:>6} {:>10} {:>6} {:>9} {:>12} {:>11} {:>13}\n", "schedule", "layers",
               "operations", "steps", "plan ms", "simulate ms", "predict ms", "us per layer");
    for (const Schedule schedule : {Schedule("streamed"), Schedule("megatrain")}) {
        for (const int layers : {8, 80, 800}) bench_row(machine, layers, schedule);
    }
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Times predictions and searches on this machine.", "sluice_bench");
    std::string what = "h200-sxm-pcie5";
    std::int64_t batch = 16;
    app.add_option("what", what, "machine of the predictions, search or advice")
        ->capture_default_str();
    app.add_option("batch", batch, "sequences a step of advice")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    return run_program(
        app,
        [&] {
            if (what == "search")
                bench_search();
            else if (what == "advice")
                bench_advice(batch, kAdvicePairs);
            else
                bench_predictions(what);
            return 0;
        },
        argc, argv);
}

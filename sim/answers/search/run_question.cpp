#include "sim/answers/search/run_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <tuple>

#include "sim/answers/compare/comparison.h"
#include "sim/answers/predict/predict.h"
#include "sim/base/format.h"
#include "sim/plan/nearest_fit.h"
#include "sim/simulate/simulation_service.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "sim/specs/scenario/changed_scenario.h"
#include "sim/specs/scenario/money_options.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

constexpr std::int64_t kMostNodes = 64;  // of a cluster that is tried

/// In the largest micro-batches that fit, if the batch as a whole does not. They may be smaller
/// than those that a choice of settings considers.
PlannedScenario in_fitting_parts(PlannedScenario planned) {
    const Scenario s = resolve(planned);
    if (fits_machine(s.model, s.machine, s.training)) return planned;
    const auto fitting = whole_batch_that_fits(s.model, s.machine, s.training);
    return fitting ? with_settings(std::move(planned), changed_settings(s.training, *fitting))
                   : planned;
}

/// With the fastest plan of our system for the given batch and sequence, or with the largest
/// micro-batches of another system that fit.
PlannedScenario on_one_gpu(const PlannedScenario& asked, const std::string& machine,
                           Schedule schedule) {
    return in_fitting_parts(
        with_fastest_plan(on_machine(asked, machine, schedule->name), std::set<std::string>{}));
}

/// With the fastest settings.
PlannedScenario on_gpus(const PlannedScenario& asked, const std::string& machine,
                        std::int64_t gpus) {
    PlannedScenario planned =
        on_machine(asked, machine, schedule_with(&ScheduleRecord::several_gpus)->name);
    planned.training["gpus"] = std::to_string(gpus);
    return in_fitting_parts(with_fastest_plan(std::move(planned), std::set<std::string>{}));
}

RunWay candidate_of(const RunQuestion& question, const PlannedScenario& planned) {
    RunWay out;
    out.answer = std::make_shared<const ScenarioAnswer>(
        answer_scenario(planned, {.band = Wanted::Band::where_it_fits}));
    const CostAnswer& cost = out.answer->cost;
    // Its node; further ones are rented.
    out.owned = planned.machine.machine == question.owned &&
                static_cast<double>(out.gpus()) <= out.answer->scenario.machine.host.gpus;
    Payment electricity;
    electricity.pays_electricity = true;
    out.run = out.owned ? run_cost(out.answer->report(), electricity, question.tokens, cost.energy,
                                   cost.terms)
                        : cost.run;
    out.priced = out.owned || cost.payment.has_value();
    return out;
}

/// Ours with the largest smaller states that fit; empty if none do.
std::optional<PlannedScenario> with_smaller_states(PlannedScenario asked, const ModelSpec& model,
                                                   const std::string& machine) {
    for (const StatePrecision& states : smaller_states(TrainingSpec{}.state_bytes)) {
        if (!states.takes_hidden(model.hidden)) continue;
        asked.training["state_bytes"] = std::to_string(states.bytes);
        PlannedScenario planned = on_one_gpu(asked, machine, Schedule());
        const Scenario s = resolve(planned);
        if (fits_machine(s.model, s.machine, s.training)) return planned;
    }
    return std::nullopt;
}

/// One GPU with our system. Where that does not run or fit: with the fastest system that runs there
/// today, in full precision if any fits; else our system with smaller states competes, too. Empty
/// if none runs and fits.
std::optional<RunWay> one_gpu(const RunQuestion& question, const PlannedScenario& asked,
                              const std::string& machine) {
    const ModelSpec model = read_model(asked.model);
    const MachineSpec spec = read_machine({machine, {}, {}}).spec;
    std::optional<std::pair<std::pair<bool, Seconds>, PlannedScenario>> best;
    const auto consider = [&](PlannedScenario planned, const Scenario& s) {
        const Seconds step = predict(s.model, s.machine, s.training).step.seconds;
        const std::pair rank(!bytes_of_states(s.training).full(), step);
        if (!best || rank < best->first) best = {rank, std::move(planned)};
    };
    for (const Schedule schedule : schedules_of(spec)) {
        if (!runs_today(schedule, model, spec).runs()) continue;
        try {
            PlannedScenario planned = on_one_gpu(asked, machine, schedule);
            const Scenario s = resolve(planned);
            if (fits_machine(s.model, s.machine, s.training)) {
                if (schedule->ours) return candidate_of(question, planned);
                consider(std::move(planned), s);
            } else if (schedule->ours) {
                if (auto smaller = with_smaller_states(asked, model, machine))
                    consider(*smaller, resolve(*smaller));
            }
        } catch (const InputError&) {
            // A rule of that system; others may train it.
        }
    }
    if (!best) return std::nullopt;
    return candidate_of(question, best->second);
}

/// One GPU with host memory, then nodes until they meet the deadline.
void try_machine(const RunQuestion& question, const PlannedScenario& asked,
                 const std::string& machine, const std::function<void(RunWay)>& found) {
    try {
        if (auto one = one_gpu(question, asked, machine)) found(std::move(*one));
        const double of_node = read_machine({machine, {}, {}}).spec.host.gpus;
        for (std::int64_t nodes = 1; of_node > 1 && nodes <= kMostNodes; nodes *= 2) {
            RunWay one = candidate_of(
                question, on_gpus(asked, machine, nodes * static_cast<std::int64_t>(of_node)));
            const bool enough = one.fits() && ends_in_time(question, one);
            if (one.fits()) found(std::move(one));
            if (enough) break;
        }
    } catch (const InputError&) {
        // A rule of the schedule, or a number of the machine that is not known.
    }
}

}  // namespace

const char* task_name(Task task) { return task == Task::pretrain ? "pretraining" : "fine-tuning"; }

std::int64_t tokens_of_a_step(Task task) {
    // Pre-training: GPT-3 with 13 B parameters (Brown et al. 2020, table 2.1). Fine-tuning: 128
    // sequences of 4,096 tokens, Tulu 3 (Lambert et al. 2024, arXiv:2411.15124).
    return task == Task::pretrain ? 1'048'576 : 524'288;
}

PlannedScenario run_scenario(const RunQuestion& question) {
    PlannedScenario out;
    out.model.model = model_of(question.model);
    const std::int64_t batch =
        std::max<std::int64_t>(1, tokens_of_a_step(question.task) / question.context);
    out.training = {{"batch", std::to_string(batch)}, {"seq", std::to_string(question.context)}};
    if (question.compute) out.training["compute"] = *question.compute;
    out.money = {{"tokens", fmt::format("{:.15g}", question.tokens)}};
    if (question.quotes) out.money["quotes"] = *question.quotes;
    return out;
}

std::vector<std::string> tried_machines(const RunQuestion& question) {
    std::vector<std::string> out;
    if (!question.owned.empty()) out.push_back(question.owned);
    const std::vector<Quote> quotes =
        question.quotes ? read_quotes(*question.quotes) : std::vector<Quote>();
    for (const std::string& id : priced_machines(quotes))
        if (id != question.owned) out.push_back(id);
    return out;
}

void try_ways(const RunQuestion& question, const std::function<void(RunWay)>& found,
              const RunProgress& progress) {
    const PlannedScenario asked = run_scenario(question);
    // A mistake gives one sentence, not one for each machine.
    read_model(asked.model);
    read_training(asked);
    if (!question.owned.empty()) resolve_machine(read_machine_profile(question.owned, "--owned"));
    const std::vector<std::string> machines = tried_machines(question);
    std::atomic<std::size_t> done = 0;
    progress(0, machines.size());
    in_threads(machines.size(), [&](std::size_t i) {
        try_machine(question, asked, machines[i], found);
        progress(++done, machines.size());
    });
}

std::vector<RunWay> all_ways(const RunQuestion& question, const RunProgress& progress) {
    std::vector<RunWay> out;
    std::mutex adding;
    try_ways(
        question,
        [&](RunWay one) {
            const std::lock_guard lock(adding);
            if (one.fits()) out.push_back(std::move(one));
        },
        [&](std::size_t done, std::size_t all) {
            const std::lock_guard lock(adding);
            if (progress) progress(done, all);
        });
    const auto rank = [](const RunWay& one) {
        return std::tuple(!one.priced, one.priced ? one.run.usd.value : 0, one.run.days.value,
                          one.name());
    };
    std::ranges::sort(out, {}, rank);
    return out;
}

}  // namespace sluice

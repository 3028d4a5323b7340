#include "sim/answers/search/run_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <tuple>

#include "sim/answers/compare/comparison.h"
#include "sim/answers/cost/run_limits.h"
#include "sim/answers/predict/plan_choice.h"
#include "sim/answers/predict/predict.h"
#include "sim/base/format.h"
#include "sim/plan/nearest_fit.h"
#include "sim/plan/schedules/cluster.h"
#include "sim/simulate/simulation_service.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "sim/specs/scenario/changed_scenario.h"
#include "sim/specs/scenario/money_options.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

constexpr std::int64_t kMostNodes = 64;  // of a cluster that is tried

/// The fastest plan that fits, for the batch and sequence that were asked; empty if none fits.
std::optional<FastestPlan> fitting_plan(const PlannedScenario& asked,
                                        BillBase base = BillBase::least_part) {
    FastestPlan out = with_fastest_plan(asked, {}, base);
    if (out.step) return out;
    // In smaller micro-batches than a choice of settings considers.
    const Scenario s = resolve(asked);
    const auto fitting = whole_batch_that_fits(s.model, s.machine, s.training);
    if (!fitting) return std::nullopt;
    out.step = predict(s.model, s.machine, *fitting).step.seconds;
    out.planned = with_settings(asked, changed_settings(s.training, *fitting));
    return out;
}

PlannedScenario on_gpus(const PlannedScenario& asked, const std::string& machine,
                        std::int64_t gpus) {
    PlannedScenario planned =
        on_machine(asked, machine, schedule_with(&ScheduleRecord::several_gpus)->name);
    planned.training["gpus"] = std::to_string(gpus);
    return planned;
}

RunWay candidate_of(const RunQuestion& question, const PlannedScenario& planned) {
    RunWay out;
    out.answer = std::make_shared<const ScenarioAnswer>(
        answer_scenario(planned, {.band = Wanted::Band::where_it_fits, .suggestions = true}));
    const CostAnswer& cost = out.answer->cost;
    // Its node; further ones are rented.
    out.owned = planned.machine.machine == question.owned &&
                static_cast<double>(out.gpus()) <= out.answer->scenario.machine.host.gpus;
    out.run = cost.run;
    out.priced = cost.payment.has_value();
    if (!out.owned) return out;
    Payment electricity;
    electricity.pays_electricity = true;
    const Prediction& report = out.answer->report();
    const MachineSpec& machine = out.answer->scenario.machine;
    // All GPUs of the node draw power, whatever a rent would pay for.
    const auto energy = energy_of(report, machine, cost.power, std::max(1.0, machine.host.gpus));
    out.run = run_cost(report, electricity, question.tokens, energy, cost.terms);
    out.priced = energy.has_value();
    return out;
}

/// Ours with the largest smaller states that fit; empty if none do.
std::optional<FastestPlan> with_smaller_states(PlannedScenario ours, const ModelSpec& model,
                                               BillBase base) {
    for (const StatePrecision& states : smaller_states(TrainingSpec{}.state_bytes)) {
        if (!states.takes_hidden(model.hidden)) continue;
        ours.training["state_bytes"] = std::to_string(states.bytes);
        if (auto plan = fitting_plan(ours, base)) return plan;
    }
    return std::nullopt;
}

/// The systems that run there today, ours first.
std::vector<Schedule> running_systems(const ModelSpec& model, const MachineSpec& machine) {
    std::vector<Schedule> out = schedules_of(machine);
    std::erase_if(out,
                  [&](Schedule schedule) { return !runs_today(schedule, model, machine).runs(); });
    std::ranges::stable_partition(out, [](Schedule schedule) { return schedule->ours; });
    return out;
}

/// One GPU with states in full precision: with our system, else with the fastest that runs there
/// today. Then the fastest with smaller states: of systems that have no others, and ours where full
/// ones do not fit.
std::vector<PlannedScenario> on_one_gpu(const PlannedScenario& asked, const std::string& machine,
                                        const MachineSpec& spec, BillBase base) {
    const ModelSpec model = read_model(asked.model);
    std::optional<FastestPlan> full, small;
    const auto consider = [](std::optional<FastestPlan>& best, std::optional<FastestPlan> plan) {
        if (plan && (!best || *plan->step < *best->step)) best = std::move(plan);
    };
    bool ours_fits = false;
    for (const Schedule schedule : running_systems(model, spec)) {
        try {
            const PlannedScenario of_system = on_machine(asked, machine, schedule->name);
            const bool has_full = bytes_of_states(resolve(of_system).training).full();
            if (has_full && ours_fits) continue;
            std::optional<FastestPlan> plan = fitting_plan(of_system, base);
            if (schedule->ours) ours_fits = plan.has_value();
            if (!plan && schedule->ours)
                consider(small, with_smaller_states(of_system, model, base));
            consider(has_full ? full : small, std::move(plan));
        } catch (const InputError&) {
            // A rule of that system; others may train it.
        }
    }
    std::vector<PlannedScenario> out;
    if (full) out.push_back(full->planned);
    if (small) out.push_back(small->planned);
    return out;
}

/// On one GPU, in the way for which the fewest bytes are short; empty if no system runs there.
std::optional<PlannedScenario> least_short_of(const PlannedScenario& asked,
                                              const std::string& machine, const MachineSpec& spec) {
    const ModelSpec model = read_model(asked.model);
    const std::vector<Schedule> systems = running_systems(model, spec);
    if (systems.empty()) return std::nullopt;
    PlannedScenario planned = on_machine(asked, machine, systems.front()->name);
    if (systems.front()->ours)
        for (const StatePrecision& states : kStatePrecisions)
            if (states.takes_hidden(model.hidden))
                planned.training["state_bytes"] = std::to_string(states.bytes);
    const TrainingSpec training = resolve(planned).training;
    return with_settings(planned,
                         changed_settings(training, least_short(model, spec, training, {})));
}

/// Empty where no plan fits or keeps the rules: a batch of no equal parts, no network.
std::optional<RunWay> on_nodes(const RunQuestion& question, const PlannedScenario& asked,
                               const std::string& machine, std::int64_t gpus) {
    try {
        const auto plan = fitting_plan(on_gpus(asked, machine, gpus));
        return plan ? std::optional(candidate_of(question, plan->planned)) : std::nullopt;
    } catch (const InputError&) {
        return std::nullopt;
    }
}

/// One GPU with host memory, then nodes until they meet the deadline and cost no less.
void try_machine(const RunQuestion& question, const PlannedScenario& asked,
                 const std::string& machine, const std::function<void(RunWay)>& found) {
    bool any = false;
    const auto tell = [&](RunWay one) {
        any = true;
        found(std::move(one));
    };
    try {
        const MachineSpec spec = read_machine({machine, {}, {}}).spec;
        const auto of_node = static_cast<std::int64_t>(spec.host.gpus);
        bool in_time = false;
        const auto one_gpu = [&](BillBase base) {
            std::optional<RunWay> full;
            for (const PlannedScenario& planned : on_one_gpu(asked, machine, spec, base)) {
                RunWay one = candidate_of(question, planned);
                // Smaller states must gain something.
                if (full && one.run.days.value >= full->run.days.value &&
                    !(one.priced && full->priced && one.run.usd.value < full->run.usd.value))
                    continue;
                full = one;
                const bool ends = ends_in_time(question.limits, one.run);
                in_time = in_time || ends;
                if (ends || base == BillBase::least_part) tell(std::move(one));
            }
        };
        one_gpu(BillBase::least_part);
        // A larger part of the node may be worth the deadline.
        if (any && !in_time && of_node > 1) one_gpu(BillBase::fastest);
        const bool joined = of_node > 1 && joins_gpus(spec);
        std::optional<RunWay> before;
        for (std::int64_t nodes = 1; joined && nodes <= kMostNodes; nodes *= 2) {
            std::optional<RunWay> one = on_nodes(question, asked, machine, nodes * of_node);
            if (!one) continue;
            // More GPUs recompute less, so that they may cost less.
            const bool gains =
                !before || !ends_in_time(question.limits, before->run) ||
                (before->priced && one->priced && one->run.usd.value < before->run.usd.value);
            if (!gains) break;
            before = one;
            tell(*std::move(one));
        }
        if (any) return;
        if (const auto least = least_short_of(asked, machine, spec))
            found(candidate_of(question, *least));
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
    if (question.limits.days) out.money["days"] = fmt::format("{:.15g}", *question.limits.days);
    if (question.limits.usd) out.money["budget_usd"] = fmt::format("{:.15g}", *question.limits.usd);
    if (question.quotes) out.money["quotes"] = *question.quotes;
    return out;
}

std::vector<std::string> tried_machines(const RunQuestion& question) {
    std::vector<std::string> out;
    if (!question.owned.empty()) out.push_back(question.owned);
    const std::vector<Quote> quotes =
        question.quotes ? read_quotes(*question.quotes) : std::vector<Quote>();
    const auto add = [&](const std::string& id) {
        if (std::ranges::find(out, id) == out.end()) out.push_back(id);
    };
    std::ranges::for_each(priced_machines(quotes), add);
    // A quote may be for another size of host memory.
    for (const Quote& quote : quotes)
        if (quote.usd_per_hour > 0) add(quote.machine);
    return out;
}

void try_ways(const RunQuestion& question, const std::function<void(RunWay)>& found,
              const RunProgress& progress) {
    const PlannedScenario asked = run_scenario(question);
    // A mistake gives one sentence, not one for each machine.
    read_model(asked.model);
    const TrainingSpec training = read_training(asked);
    const double step = static_cast<double>(training.tokens());
    if (question.tokens < step)
        throw InputError(
            fmt::format(
                "--tokens is \"{:.15g}\", expected at least {}, the tokens of a step; 2B is "
                "two billion",
                question.tokens, format_thousands(step)),
            "tokens");
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
            out.push_back(std::move(one));
        },
        [&](std::size_t done, std::size_t all) {
            const std::lock_guard lock(adding);
            if (progress) progress(done, all);
        });
    const auto rank = [](const RunWay& one) {
        return std::tuple(!one.fits(), !one.priced, one.priced ? one.run.usd.value : 0,
                          one.run.days.value, one.name());
    };
    std::ranges::sort(out, {}, rank);
    return out;
}

}  // namespace sluice

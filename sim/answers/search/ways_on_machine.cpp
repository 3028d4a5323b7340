#include "sim/answers/search/ways_on_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/answers/compare/comparison.h"
#include "sim/answers/cost/run_limits.h"
#include "sim/answers/predict/outline.h"
#include "sim/answers/predict/plan_choice.h"
#include "sim/answers/predict/predict.h"
#include "sim/plan/nearest_fit.h"
#include "sim/plan/schedules/cluster.h"
#include "sim/specs/model/read_model.h"
#include "sim/specs/scenario/changed_scenario.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

/// The fastest plan that fits, for the batch and sequence that were asked; empty if none fits.
std::optional<FastestPlan> fitting_plan(const PlannedScenario& asked,
                                        BillBase base = BillBase::least_part) {
    FastestPlan out = with_fastest_plan(asked, {}, base);
    if (out.step) return out;
    // In smaller micro-batches than a choice of settings considers.
    const ModelSpec model = read_model(asked.model);
    const MachineSpec machine = read_machine(asked.machine).spec;
    const TrainingSpec training = read_training(asked);
    const auto fitting = whole_batch_that_fits(model, machine, training);
    if (!fitting) return std::nullopt;
    out.step = predict(model, machine, *fitting).step.seconds;
    out.planned = with_settings(asked, changed_settings(training, *fitting));
    return out;
}

PlannedScenario on_gpus(const PlannedScenario& asked, Schedule system, std::int64_t gpus) {
    PlannedScenario planned = on_machine(asked, asked.machine.machine, system->name);
    planned.training["gpus"] = std::to_string(gpus);
    return planned;
}

/// Ours with the largest smaller states that fit; empty if none do.
std::optional<FastestPlan> with_smaller_states(PlannedScenario ours, const ModelSpec& model,
                                               BillBase base) {
    const auto plan_with = [&](const StatePrecision& states) {
        ours.training["state_bytes"] = std::to_string(states.bytes);
        return fitting_plan(ours, base);
    };
    std::vector<StatePrecision> all;
    for (const StatePrecision& states : smaller_states(TrainingSpec{}.state_bytes))
        if (states.takes_hidden(model.hidden)) all.push_back(states);
    // Where the smallest do not fit, none do.
    std::optional<FastestPlan> smallest;
    if (!all.empty()) smallest = plan_with(all.back());
    if (!smallest) return std::nullopt;
    all.pop_back();
    for (const StatePrecision& states : all)
        if (auto plan = plan_with(states)) return plan;
    return smallest;
}

/// The systems that run there today, ours first.
std::vector<Schedule> running_systems(const ModelSpec& model, const MachineSpec& machine) {
    std::vector<Schedule> out = schedules_of(machine);
    std::erase_if(out,
                  [&](Schedule schedule) { return !runs_today(schedule, model, machine).runs(); });
    std::ranges::stable_sort(out, std::greater(), [](Schedule schedule) { return schedule->ours; });
    return out;
}

/// One GPU with states in full precision: with our system, else with the fastest that runs there
/// today. Then the fastest with smaller states: of systems that have no others, and ours where full
/// ones do not fit. `systems` that have no plan leave it.
std::vector<PlannedScenario> on_one_gpu(const PlannedScenario& asked, BillBase base,
                                        std::vector<Schedule>& systems) {
    const ModelSpec model = read_model(asked.model);
    std::optional<FastestPlan> full, small;
    std::vector<Schedule> with_plan;
    bool ours_fits = false;
    for (const Schedule schedule : systems) {
        const auto consider = [&](std::optional<FastestPlan>& best,
                                  std::optional<FastestPlan> plan) {
            if (plan) with_plan.push_back(schedule);
            if (plan && (!best || *plan->step < *best->step)) best = std::move(plan);
        };
        try {
            const PlannedScenario of_system =
                on_machine(asked, asked.machine.machine, schedule->name);
            const bool has_full = bytes_of_states(read_training(of_system)).full();
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
    systems = std::move(with_plan);
    std::vector<PlannedScenario> out;
    if (full) out.push_back(full->planned);
    if (small) out.push_back(small->planned);
    return out;
}

/// On one GPU, in the way for which the fewest bytes are short; empty if no system runs there.
std::optional<PlannedScenario> least_short_of(const PlannedScenario& asked,
                                              const MachineSpec& spec) {
    const ModelSpec model = read_model(asked.model);
    const std::vector<Schedule> systems = running_systems(model, spec);
    if (systems.empty()) return std::nullopt;
    PlannedScenario planned = on_machine(asked, asked.machine.machine, systems.front()->name);
    if (systems.front()->ours)
        for (const StatePrecision& states : kStatePrecisions)
            if (states.takes_hidden(model.hidden))
                planned.training["state_bytes"] = std::to_string(states.bytes);
    const TrainingSpec training = read_training(planned);
    return with_settings(planned,
                         changed_settings(training, least_short(model, spec, training, {})));
}

/// Empty where no plan fits or keeps the rules: a batch of no equal parts, no network.
std::optional<RunWay> on_nodes(const RunQuestion& question, const PlannedScenario& asked,
                               std::int64_t gpus) {
    try {
        const auto plan =
            fitting_plan(on_gpus(asked, schedule_with(&ScheduleRecord::several_gpus), gpus));
        return plan ? std::optional(way_of(question, plan->planned)) : std::nullopt;
    } catch (const InputError&) {
        return std::nullopt;
    }
}

/// The largest number of owned GPUs that a system takes, with the fastest system; empty if none
/// takes more than one, or no plan fits.
std::optional<RunWay> on_owned_gpus(const RunQuestion& question, const PlannedScenario& asked,
                                    const MachineSpec& spec) {
    const ModelSpec model = read_model(asked.model);
    std::vector<Schedule> systems = running_systems(model, spec);
    systems.push_back(schedule_with(&ScheduleRecord::several_gpus));
    std::erase_if(systems, [](Schedule one) { return !has_option(one, training_option("gpus")); });
    std::optional<FastestPlan> best;
    for (const Schedule system : systems) {
        for (std::int64_t gpus = gpus_owned(question, spec); gpus > 1; --gpus) {
            try {
                const auto plan = fitting_plan(on_gpus(asked, system, gpus));
                if (plan && (!best || *plan->step < *best->step)) best = plan;
                break;  // fewer GPUs have less memory
            } catch (const InputError&) {
                // A batch of no equal parts, or GPUs whose connection is not known.
            }
        }
    }
    return best ? std::optional(way_of(question, best->planned)) : std::nullopt;
}

/// Instead of a rent, where that is within the budget or costs less.
std::optional<RunWay> bought_instead(const RunQuestion& question, const RunWay& rented) {
    const CostAnswer& cost = rented.answer->cost;
    if (rented.owned || !rented.fits() || !cost.bought || rented.is_bought()) return std::nullopt;
    PlannedScenario planned = rented.answer->planned;
    planned.money["ownership"] = ownership_name(Ownership::buy);
    RunWay out = way_of(question, std::move(planned));
    const bool within = question.limits.usd && out.run.spent.value <= *question.limits.usd;
    return within || out.run.spent.value < rented.run.spent.value ? std::optional(std::move(out))
                                                                  : std::nullopt;
}

/// Dollars for the run; with the most tokens, more tokens for the dollars.
bool costs_less(const RunWay& one, const RunWay& than) {
    if (one.most_tokens) return one.run.tokens > than.run.tokens;
    return one.priced && than.priced && one.run.spent.value < than.run.spent.value;
}
bool gains(const RunWay& one, const RunWay& over) {
    return costs_less(one, over) || (!one.most_tokens && one.run.days.value < over.run.days.value);
}

}  // namespace

bool is_owned(const RunQuestion& question, const PlannedMachine& machine) {
    return machine.machine == question.owned && machine == owned_machine(question);
}

std::int64_t gpus_owned(const RunQuestion& question, const MachineSpec& node) {
    return question.owned_gpus.value_or(static_cast<std::int64_t>(node.host.gpus));
}

RunWay way_of(const RunQuestion& question, PlannedScenario planned) {
    RunWay out;
    const MachineSpec machine = read_machine(planned.machine).spec;
    const TrainingSpec training = read_training(planned);
    // Further ones are rented.
    const std::int64_t owned = std::max<std::int64_t>(1, gpus_owned(question, machine));
    out.owned = is_owned(question, planned.machine) && training.gpus <= owned;
    if (out.owned) planned.money["ownership"] = ownership_name(Ownership::own);
    const auto answer_of = [](const PlannedScenario& one) {
        return std::make_shared<ScenarioAnswer>(
            answer_scenario(one, {.band = Wanted::Band::where_it_fits, .suggestions = true}));
    };
    std::shared_ptr<ScenarioAnswer> answer = answer_of(planned);
    out.priced = answer->cost.payment.has_value();
    out.run = answer->cost.run;
    if (question.most_tokens) {
        const auto step = static_cast<double>(training.tokens());
        const double steps =
            std::floor(tokens_within(question.limits, answer->cost.run, out.priced) / step);
        if (steps > 0) {
            planned.money["tokens"] = fmt::format("{:.15g}", steps * step);
            answer = answer_of(planned);
        }
        out.most_tokens = true;
        out.run = run_of_tokens(answer->cost.run, steps * step);
    }
    out.answer = answer;
    forget_operations(answer->prediction);
    return out;
}

void ways_on_machine(const RunQuestion& question, PlannedScenario asked,
                     const PlannedMachine& machine, const std::function<void(RunWay)>& found) {
    asked.machine = machine;
    bool any = false;
    std::vector<PlannedScenario> told;
    const auto tell = [&](RunWay one) {
        const PlannedScenario& planned = one.answer->planned;
        if (std::ranges::find(told, planned) != told.end()) return;
        told.push_back(planned);
        any = true;
        const auto bought = bought_instead(question, one);
        found(std::move(one));
        if (bought) found(*bought);
    };
    try {
        const MachineSpec spec = read_machine(machine).spec;
        const bool owned = is_owned(question, machine);
        PlannedScenario here = asked;
        if (owned) here.money["ownership"] = ownership_name(Ownership::own);
        const auto of_node = static_cast<std::int64_t>(spec.host.gpus);
        bool in_time = false;
        std::vector<Schedule> systems = running_systems(read_model(asked.model), spec);
        const auto one_gpu = [&](BillBase base) {
            std::optional<RunWay> full;
            for (const PlannedScenario& planned : on_one_gpu(here, base, systems)) {
                RunWay one = way_of(question, planned);
                // Smaller states must gain something.
                if (full && !gains(one, *full)) continue;
                full = one;
                // With the most tokens, each ends by the deadline.
                const bool ends = ends_in_time(question.limits, one.run);
                in_time = in_time || (ends && !question.most_tokens);
                if (ends || base == BillBase::least_part) tell(std::move(one));
            }
        };
        one_gpu(BillBase::least_part);
        // A larger part of the node may be worth the deadline.
        if (any && !owned && !in_time && of_node > 1) one_gpu(BillBase::fastest);
        const bool joined = of_node > 1 && joins_gpus(spec) && !(owned && question.owned_gpus);
        std::optional<RunWay> before = owned ? on_owned_gpus(question, here, spec) : std::nullopt;
        if (before) tell(*before);
        for (std::int64_t nodes = owned ? 2 : 1; joined && nodes <= kMostNodesTried; nodes *= 2) {
            std::optional<RunWay> one = on_nodes(question, asked, nodes * of_node);
            if (!one) continue;
            // More GPUs recompute less, so that they may cost less.
            const bool late =
                before && !question.most_tokens && !ends_in_time(question.limits, before->run);
            if (before && !late && !costs_less(*one, *before)) break;
            before = one;
            tell(*std::move(one));
        }
        if (any) return;
        if (const auto least = least_short_of(asked, spec)) found(way_of(question, *least));
    } catch (const InputError&) {
        // A rule of the schedule, or a number of the machine that is not known.
    }
}

}  // namespace sluice

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/answers/cost/run_limits.h"
#include "sim/answers/decision/decision.h"
#include "sim/answers/predict/plan_choice.h"
#include "sim/answers/predict/predict.h"
#include "sim/answers/search/advise.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

TrainingSpec on_gpus(TrainingSpec training, std::int64_t gpus) {
    if (gpus == 0) return training;
    training.gpus = gpus;
    if (training.micro_batch > training.batch_of_a_gpu()) training.micro_batch = 0;
    return training_of(schedule_with(&ScheduleRecord::several_gpus), training);
}

CostQuery money_of(const DecisionRequest& request, const AskedMachine& asked) {
    CostQuery query = asked.money.value_or(request.money);
    if (!asked.usd_per_hour) return query;
    query.usd_per_hour = asked.usd_per_hour;
    query.usd_per_hour_flag = "--price";
    query.offer.reset();
    query.price_usd.reset();
    query.ownership.reset();
    return query;
}

/// The best settings; if none fit, the nearest ones; if those are not known either, the given ones.
TrainingSpec advised(const DecisionRequest& request, const AskedMachine& asked,
                     const MachineSpec& machine) {
    AdviceRequest advice = *request.advise;
    advice.prices = prices_to_choose_by(asked.profile, money_of(request, asked));
    if (asked.gpus > 0) {
        advice.given.schedule = schedule_with(&ScheduleRecord::several_gpus);
        advice.given.gpus = asked.gpus;
        for (const Option& option : training_options())
            if (!has_option(advice.given.schedule, option) && !advice.fixed.contains(option.field))
                option.set(advice.given, option.get(TrainingSpec{}));
    }
    const ScenarioGrid grid = advice_grid(request.model, machine, advice);
    const Advice found = advise(grid, advice, request.workers);
    if (found.best) return found.best->training;
    return found.nearest ? found.nearest->training : advice.given;
}

std::string machine_of(const AskedMachine& asked) {
    return format_gpus(asked.gpus, asked.profile.id);
}

/// Words that tell it from the others: its scenario where the request has that machine twice, and
/// the system that was taken instead.
std::string told_apart(const DecisionRequest& request, const AskedMachine& asked,
                       const char* other_system) {
    const auto alike = std::ranges::count_if(
        request.machines, [&](auto& one) { return machine_of(one) == machine_of(asked); });
    std::string out = alike == 1 ? "" : asked.planned.name;
    if (other_system != nullptr) out += (out.empty() ? "" : ", ") + std::string(other_system);
    return out;
}

/// "gh200-480gb", "8 x h100-sxm-pcie5", "h200-sxm-... (batch 32)": the machine gives way to what
/// tells it from the others.
void set_name(Candidate& candidate, const std::string& machine, const std::string& apart) {
    constexpr std::size_t kMostApart = 17;
    const auto bracket = [](const std::string& words) {
        return words.empty() ? "" : fmt::format(" ({})", words);
    };
    candidate.full_name = machine + bracket(apart);
    candidate.name =
        cut_to_letters(candidate.full_name, kMostNameLetters) == candidate.full_name
            ? candidate.full_name
            : cut_to_letters(machine, kMostNameLetters, bracket(cut_to_letters(apart, kMostApart)));
}

/// Numbers those whose names are equal after they were cut.
void number_names(std::vector<Candidate>& candidates) {
    std::set<std::string> taken;
    for (Candidate& one : candidates)
        for (int number = 2; !taken.insert(one.name).second; ++number)
            one.name = fmt::format("{}. {}", number, cut_to_letters(one.full_name, 26));
}

/// The plan that is first by precision_then_time(), of the systems that run there today and have
/// the options of `given`; empty if none fits.
std::optional<TrainingSpec> best_that_runs(const DecisionRequest& request,
                                           const MachineSpec& machine, const PriceList& prices,
                                           const std::set<std::string>& given) {
    std::optional<std::pair<std::pair<bool, Seconds>, TrainingSpec>> best;
    for (const Schedule schedule : schedules_of(machine)) {
        const bool has_all = std::ranges::all_of(given, [&](const std::string& field) {
            return has_option(schedule, training_option(field));
        });
        if (!has_all) continue;
        TrainingSpec training;
        try {
            training = training_of(schedule, request.training);
        } catch (const InputError&) {
            continue;  // the options break a rule of that system
        }
        if (!runs_today(training, request.model, machine).runs()) continue;
        PlanChoice choice = choose_plan(request.model, machine, training, given, prices);
        if (!choice.step) continue;
        const std::pair rank = precision_then_time(choice.training, *choice.step);
        if (!best || rank < best->first) best = {rank, std::move(choice.training)};
    }
    return best ? std::optional(std::move(best->second)) : std::nullopt;
}

Candidate predict_candidate(const DecisionRequest& request, const AskedMachine& asked,
                            const MachineSpec& machine, const TrainingSpec& training) {
    Candidate out;
    out.profile = asked.profile;
    out.machine = machine;
    const bool chooses = request.chosen_beside && !asked.training;
    const CostQuery query = money_of(request, asked);
    const MachineMoney money = machine_money(asked.profile, machine, query);
    const PriceList prices = prices_to_choose_by(asked.profile, query);
    out.prediction = predict(request.model, machine, training,
                             {.band = Wanted::Band::where_it_fits,
                              .suggestions = true,
                              .prices = prices,
                              .chosen_beside = chooses ? &*request.chosen_beside : nullptr});
    const char* other_system = nullptr;
    if (chooses && asked.gpus == 0 && request.chooses_system() && !out.today().runs()) {
        if (const auto other = best_that_runs(request, machine, prices, *request.chosen_beside)) {
            out.prediction =
                predict(request.model, machine, *other, {.band = Wanted::Band::always});
            other_system = other->schedule->name;
        }
    }
    set_name(out, machine_of(asked), told_apart(request, asked, other_system));
    out.cost = answer_cost(out.prediction, machine, money, query);
    out.together = full_node(out.prediction, machine, money, query);
    return out;
}

/// Prices of the best candidate's machine, with its quotes.
PriceList prices_of(const Decision& decision) {
    const DecisionRequest& request = decision.request;
    const AskedMachine& asked = request.machines[*decision.chosen];
    return prices_to_choose_by(asked.profile, money_of(request, asked));
}

/// Where plans were chosen, each other system has its fastest; else the best candidate's settings
/// that it has. Beside a cluster they have its batch alone, on one GPU. A system whose rules these
/// break is left out.
void compare_others(Decision& decision) {
    const Candidate& best = *decision.best();
    const bool cluster = best.report().asked.training.schedule->several_gpus;
    const auto& beside = decision.request.chosen_beside;
    TrainingSpec asked = beside ? decision.request.training : best.report().asked.training;
    if (cluster) {  // the batch of all GPUs on one, with settings of their own
        const TrainingSpec& of_all = best.report().asked.training;
        asked = {};
        asked.batch = of_all.batch;
        asked.sequence = of_all.sequence;
        asked.compute = of_all.compute;
        asked.adapter_rank = of_all.adapter_rank;
        asked.adapter_targets = of_all.adapter_targets;
        asked.adapter_dropout_percent = of_all.adapter_dropout_percent;
    }
    asked.gpus = 1;
    ComparedSchedules compared = compared_schedules(best.machine, asked);
    std::erase_if(compared.schedules, [&](Schedule schedule) {
        try {
            training_of(schedule, asked);
            return false;
        } catch (const InputError& error) {
            compared.left_out.push_back(fmt::format("{}: {}", schedule->name, error.what()));
            return true;
        }
    });
    if (compared.schedules.empty() && !cluster) return;
    decision.other = compared.schedules.empty()
                         ? Comparison{{}, compared.left_out}
                         : compare(decision.request.model, best.machine, asked, compared, {},
                                   prices_of(decision), beside ? &*beside : nullptr);
    if (cluster) {
        ComparedSystem all_gpus;
        all_gpus.name = best.name;
        all_gpus.report = best.report();
        decision.other->systems.push_back(std::move(all_gpus));
    }
    decision.other->planned_too = decision.request.planned_too;
}

void add_upgrades(Decision& decision) {
    const Candidate& best = *decision.best();
    const TrainingSpec& training = best.report().asked.training;
    const auto& advise = decision.request.advise;
    if (!training.schedule->several_gpus)
        decision.upgrades = sensitivity(
            decision.request.model, best.profile, best.machine, training, "",
            advise ? advise->fixed
                   : decision.request.chosen_beside.value_or(std::set<std::string>{}),
            decision.request.chosen_beside ? Plans::chosen : Plans::given, prices_of(decision));
}

/// Numbers of the machine that this step does not use.
bool concerns(const std::string& path, const TrainingSpec& training) {
    const bool between_gpus = path.starts_with("gpu_interconnect.") || path.starts_with("network.");
    if (between_gpus) return training.schedule->several_gpus;
    if (path.starts_with("storage.")) return training.schedule->needs_storage;
    return true;
}

}  // namespace

Decision decide(const DecisionRequest& request) {
    Decision out;
    out.request = request;
    out.record = track_records();
    for (const AskedMachine& asked : request.machines) {
        const MachineSpec machine = resolve_machine(asked.profile);
        out.candidates.push_back(predict_candidate(request, asked, machine,
                                                   request.advise ? advised(request, asked, machine)
                                                   : asked.training
                                                       ? *asked.training
                                                       : on_gpus(request.training, asked.gpus)));
    }
    number_names(out.candidates);
    choose(out);
    if (!out.chosen) return out;
    compare_others(out);
    add_upgrades(out);
    return out;
}

void choose(Decision& decision) {
    const std::vector<Candidate>& all = decision.candidates;
    const auto choice_by_cost = [&](const Candidate& c) {
        return decision.can_choose(c) && c.cost.payment;
    };
    decision.aim =
        decision.request.aim == Aim::cheapest && std::any_of(all.begin(), all.end(), choice_by_cost)
            ? Aim::cheapest
            : Aim::fastest;
    decision.chosen.reset();
    const auto rank = [&](const Candidate& c) {
        return std::pair(!meets(c.cost), decision.aim == Aim::cheapest
                                             ? c.cost.run.usd_per_million_tokens.value
                                             : -c.report().tokens_per_s());
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (decision.aim == Aim::cheapest ? !choice_by_cost(all[i]) : !decision.can_choose(all[i]))
            continue;
        if (!decision.chosen || rank(all[i]) < rank(all[*decision.chosen])) decision.chosen = i;
    }
}

std::set<std::string> numbers_used(const Candidate& c) {
    std::set<std::string> out;
    for (const std::string& path : c.machine.inputs)
        if (concerns(path, c.report().asked.training)) out.insert(path);
    if (c.cost.energy)
        for (const Quantity& quantity : c.profile.quantities)
            if (quantity.path == "gpu.tdp_w" || quantity.path.starts_with("power."))
                out.insert(quantity.path);
    if (const auto& payment = c.cost.payment)
        out.insert(payment->inputs.begin(), payment->inputs.end());
    return out;
}

}  // namespace sluice

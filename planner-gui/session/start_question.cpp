#include "planner-gui/session/start_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>

#include "planner-gui/session/session_jobs.h"
#include "sim/answers/compare/comparison.h"
#include "sim/answers/predict/predict.h"
#include "sim/base/format.h"
#include "sim/plan/nearest_fit.h"
#include "sim/simulate/simulation_service.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "sim/specs/scenario/changed_scenario.h"
#include "sim/specs/scenario/money_options.h"

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

StartCandidate candidate_of(const StartQuestion& question, const PlannedScenario& planned) {
    StartCandidate out;
    out.answer = std::make_shared<const ScenarioAnswer>(
        answer_scenario(planned, {.band = Wanted::Band::where_it_fits}));
    const CostAnswer& cost = out.answer->cost;
    out.owned = planned.machine.machine == question.owned;
    Payment electricity;
    electricity.pays_electricity = true;
    out.run = out.owned ? run_cost(out.answer->report(), electricity, question.tokens, cost.energy,
                                   cost.terms)
                        : cost.run;
    out.priced = out.owned || cost.payment.has_value();
    return out;
}

/// One GPU with our system or, where no program executes that or it does not fit, with the fastest
/// of those that run there today. Empty if none runs and fits.
std::optional<StartCandidate> one_gpu(const StartQuestion& question, const PlannedScenario& asked,
                                      const std::string& machine) {
    const ModelSpec model = read_model(asked.model);
    const MachineSpec spec = read_machine({machine, {}, {}}).spec;
    std::optional<std::pair<Seconds, PlannedScenario>> best;
    for (const Schedule schedule : schedules_of(spec)) {
        if (!runs_today(schedule, model, spec).runs()) continue;
        try {
            PlannedScenario planned = on_one_gpu(asked, machine, schedule);
            const Scenario s = resolve(planned);
            if (!fits_machine(s.model, s.machine, s.training)) continue;
            if (schedule->ours) return candidate_of(question, planned);
            const Seconds step = predict(s.model, s.machine, s.training).step.seconds;
            if (!best || step < best->first) best = {step, std::move(planned)};
        } catch (const InputError&) {
            // A rule of that system; others may train it.
        }
    }
    if (!best) return std::nullopt;
    return candidate_of(question, best->second);
}

bool in_time(const StartQuestion& question, const StartCandidate& one) {
    return !question.days || one.run.days.value <= *question.days;
}

bool within_budget(const StartQuestion& question, const StartCandidate& one) {
    return !question.usd || one.run.usd.value <= *question.usd;
}

/// 1 if it meets both, else the factor by which it misses the one it misses more.
double miss(const StartQuestion& question, const StartCandidate& one) {
    return std::max({1.0, question.days ? one.run.days.value / *question.days : 0,
                     question.usd ? one.run.usd.value / *question.usd : 0});
}

/// One GPU with host memory, then nodes until they meet the deadline.
void try_machine(const StartQuestion& question, const PlannedScenario& asked,
                 const std::string& machine, const std::function<void(StartCandidate)>& found) {
    try {
        if (auto one = one_gpu(question, asked, machine)) found(std::move(*one));
        const double of_node = read_machine({machine, {}, {}}).spec.host.gpus;
        const std::int64_t most = machine == question.owned ? 1 : kMostNodes;
        for (std::int64_t nodes = 1; of_node > 1 && nodes <= most; nodes *= 2) {
            StartCandidate one = candidate_of(
                question, on_gpus(asked, machine, nodes * static_cast<std::int64_t>(of_node)));
            const bool enough = one.fits() && in_time(question, one);
            if (one.fits()) found(std::move(one));
            if (enough) break;
        }
    } catch (const InputError&) {
        // A rule of the schedule, or a number of the machine that is not known.
    }
}

/// The owned one first.
std::vector<std::string> machines_of(const StartQuestion& question) {
    std::vector<std::string> out;
    if (!question.owned.empty()) out.push_back(question.owned);
    for (const std::string& id : priced_machines())
        if (id != question.owned) out.push_back(id);
    return out;
}

}  // namespace

std::int64_t tokens_of_a_step(Task task) {
    // Pre-training: GPT-3 with 13 B parameters (Brown et al. 2020, table 2.1). Fine-tuning: 128
    // sequences of 4,096 tokens, Tulu 3 (Lambert et al. 2024, arXiv:2411.15124).
    return task == Task::pretrain ? 1'048'576 : 524'288;
}

std::string model_of(const std::string& text) {
    const std::vector<std::string> names = library_models();
    const std::optional<double> size = parse_amount(text);
    const bool is_name =
        std::ranges::any_of(scaled_targets(), [&](auto& one) { return text == one.name; });
    if (is_name) return text;
    if (!size) {
        // A part that one name alone has: "30B-A3B".
        std::string part = text;
        for (char& c : part) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        const auto has_it = [&](const std::string& name) {
            return name.find(part) != std::string::npos;
        };
        return std::ranges::count_if(names, has_it) == 1 ? *std::ranges::find_if(names, has_it)
                                                         : text;
    }
    const std::vector<std::string> near = models_of_size(*size);
    if (near.empty())
        throw InputError(
            fmt::format("no model of the library has about {} parameters; choose one of the list, "
                        "or give a config.json",
                        format_count(*size)),
            "model");
    return near.front();
}

PlannedScenario start_scenario(const StartQuestion& question) {
    PlannedScenario out;
    out.model.model = model_of(question.model);
    const std::int64_t batch =
        std::max<std::int64_t>(1, tokens_of_a_step(question.task) / question.context);
    out.training = {{"batch", std::to_string(batch)}, {"seq", std::to_string(question.context)}};
    out.money = {{"tokens", fmt::format("{:.15g}", question.tokens)}};
    return out;
}

std::string StartCandidate::name() const {
    return gpus() == 1 ? machine() : fmt::format("{} x {}", gpus(), machine());
}

void try_machines(const StartQuestion& question, const std::function<void(StartCandidate)>& found,
                  const std::function<void(std::size_t, std::size_t)>& progress) {
    const PlannedScenario asked = start_scenario(question);
    read_model(asked.model);  // a mistake gives one sentence, not one for each machine
    if (!question.owned.empty()) read_machine({question.owned, {}, {}});
    const std::vector<std::string> machines = machines_of(question);
    std::atomic<std::size_t> done = 0;
    progress(0, machines.size());
    in_threads(machines.size(), [&](std::size_t i) {
        try_machine(question, asked, machines[i], found);
        progress(++done, machines.size());
    });
}

bool meets(const StartQuestion& question, const StartCandidate& one) {
    return one.fits() && one.priced && in_time(question, one) && within_budget(question, one);
}

std::string time_and_money(const StartCandidate& one) {
    const std::string money = one.priced ? format_usd(one.run.usd.value) : "no price is known";
    return fmt::format("{}, {}{}", format_days(one.run.days), money,
                       one.owned ? " for electricity" : "");
}

std::vector<StartPick> start_picks(const StartQuestion& question,
                                   const std::vector<StartCandidate>& candidates) {
    std::vector<StartPick> out;
    /// The first by `less` of those that `may`, if it is not there yet.
    const auto pick = [&](const auto& may, const auto& less, const std::string& why) {
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const StartCandidate& one = candidates[i];
            const bool taken = std::ranges::any_of(
                out, [&](const StartPick& before) { return before.candidate == i; });
            if (taken || !one.fits() || !one.priced || !may(one)) continue;
            if (!best || less(one, candidates[*best])) best = i;
        }
        if (best && out.size() < 3) out.push_back({*best, why});
    };
    const auto cheaper = [](auto& a, auto& b) { return a.run.usd.value < b.run.usd.value; };
    const auto faster = [](auto& a, auto& b) { return a.run.days.value < b.run.days.value; };
    const auto meets_both = [&](auto& one) { return meets(question, one); };
    const auto any = [](auto&) { return true; };
    const auto on_another = [&](auto& one) {
        return meets_both(one) && std::ranges::none_of(out, [&](const StartPick& before) {
                   return candidates[before.candidate].machine() == one.machine();
               });
    };
    if (std::ranges::any_of(candidates, meets_both)) {
        pick([&](auto& one) { return meets_both(one) && one.owned; }, cheaper,
             "You own it, and it meets the deadline and the budget.");
        const auto best = [&](const auto& less) {
            const StartCandidate* first = nullptr;
            for (const StartCandidate& one : candidates)
                if (meets_both(one) && (first == nullptr || less(one, *first))) first = &one;
            return first;
        };
        const bool both = best(cheaper) == best(faster);
        pick(meets_both, cheaper,
             both ? "It costs the least and is the fastest of the ways that meet the deadline and "
                    "the budget."
                  : "It costs the least of the ways that meet the deadline and the budget.");
        if (!both) pick(meets_both, faster, "It is the fastest of the ways that meet both.");
        pick(on_another, cheaper, "It is the next cheapest on another machine.");
        pick(meets_both, cheaper, "It is the next cheapest.");
        return out;
    }
    pick(
        any, [&](auto& a, auto& b) { return miss(question, a) < miss(question, b); },
        "No way meets the deadline and the budget; this one comes nearest.");
    pick([&](auto& one) { return in_time(question, one); }, cheaper,
         "It is the cheapest that ends in time.");
    pick([&](auto& one) { return within_budget(question, one); }, faster,
         "It is the fastest within the budget.");
    pick(any, cheaper, "It is the cheapest, however long it takes.");
    return out;
}

}  // namespace sluice

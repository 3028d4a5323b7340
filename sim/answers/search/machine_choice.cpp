#include "sim/answers/search/machine_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "sim/answers/predict/plan_choice.h"
#include "sim/answers/predict/predict.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/plan/nearest_fit.h"
#include "sim/specs/machine/default_host.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

/// The fastest plan, if it may be chosen and one fits; else the training, or with `adjust` the
/// nearest that fits.
TrainingSpec used_training(const ModelSpec& model, const MachineSpec& machine,
                           const TrainingSpec& training, bool adjust,
                           const std::set<std::string>* chosen_beside, const PriceList& prices) {
    if (chosen_beside != nullptr) {
        const PlanChoice choice = choose_plan(model, machine, training, *chosen_beside, prices);
        if (choice.step) return choice.training;
    }
    return fitting_training(model, machine, training, adjust).value_or(training);
}

/// Shortages of the plan for which the fewest bytes are short.
std::vector<Shortage> least_shortages(const Prediction& report, const ModelSpec& model,
                                      const MachineSpec& machine, const TrainingSpec& training,
                                      const std::set<std::string>* chosen_beside) {
    if (chosen_beside == nullptr) return find_shortages(report.plan);
    const TrainingSpec least = least_short(model, machine, training, *chosen_beside);
    return find_shortages(planned_step(plan_step(model, machine, least), machine, least));
}

std::optional<SmallerStates> with_smaller_states(const ModelSpec& model, const MachineSpec& machine,
                                                 const TrainingSpec& training, double tokens_per_s,
                                                 const MachineMoney& money, const CostQuery& query,
                                                 bool planned_too,
                                                 const std::set<std::string>* chosen_beside) {
    constexpr const char* kField = "state_bytes";
    const bool given = chosen_beside != nullptr && chosen_beside->contains(kField);
    if (given || !has_option(training.schedule, kField)) return std::nullopt;
    for (const StatePrecision& states : smaller_states(training.state_bytes)) {
        if (!states.takes_hidden(model.hidden)) continue;
        TrainingSpec asked = training;
        asked.state_bytes = states.bytes;
        const TrainingSpec used =
            used_training(model, machine, asked, true, chosen_beside, money.prices);
        const Prediction report = predict(model, machine, used);
        if (!report.plan.fit.fits() || report.tokens_per_s() < tokens_per_s ||
            !(planned_too || report.asked.runs_today.runs()))
            continue;
        SmallerStates out{states.bytes, report.tokens_per_s(), {}};
        const CostAnswer cost = answer_cost(report, machine, money, query);
        if (cost.payment) out.usd_per_million_tokens = cost.run.usd_per_million_tokens.value;
        return out;
    }
    return std::nullopt;
}

MachineChoice try_machine(const MachineProfile& profile, const ModelSpec& model,
                          const TrainingSpec& training, double tokens_per_s, bool adjust,
                          const CostQuery& query, bool planned_too,
                          const std::set<std::string>* chosen_beside) {
    const MachineSpec machine = resolve_machine(profile);
    MachineChoice choice;
    choice.id = profile.id;
    choice.host_memory = host_memory_of(profile);
    const MachineMoney money = machine_money(profile, machine, query);
    const TrainingSpec used =
        used_training(model, machine, training, adjust, chosen_beside, money.prices);
    choice.changes = changed_settings(training, used);
    choice.report = predict(model, machine, used, {.band = Wanted::Band::always});
    if (!choice.report.plan.fit.fits()) {
        choice.shortages = least_shortages(choice.report, model, machine, training, chosen_beside);
        choice.smaller_states = with_smaller_states(model, machine, training, tokens_per_s, money,
                                                    query, planned_too, chosen_beside);
    }
    choice.does_it = choice.report.plan.fit.fits() &&
                     choice.report.tokens_per_s() >= tokens_per_s &&
                     (planned_too || choice.report.asked.runs_today.runs());
    choice.cost = answer_cost(choice.report, machine, money, query);
    return choice;
}

/// Limits host memory to what the machine can have; returns whether that is less than requested.
bool give_memory(MachineProfile& profile, double gb) {
    const double given = std::min(gb, profile.number("host.memory_capacity_most_gb").value_or(gb));
    profile.set("host.memory_capacity_gb", given);
    return given < gb;
}

/// First the machines that reach the goal and have a price, then those without a price, then the
/// others; each by price, then speed.
auto rank(const MachineChoice& choice) {
    const int group = choice.does_it ? (choice.cost.payment ? 0 : 1) : 2;
    return std::tuple(group, choice.cost.payment ? choice.cost.run.usd_per_hour : 0.0,
                      -choice.report.tokens_per_s());
}

}  // namespace

const MachineChoice* MachineChoices::cheapest() const {
    return !machines.empty() && machines.front().does_it && machines.front().cost.payment
               ? &machines.front()
               : nullptr;
}

MachineChoices choose_machine(const ModelSpec& model, const TrainingSpec& training,
                              double tokens_per_s, bool adjust, const CostQuery& query,
                              std::optional<double> host_memory_bytes, bool planned_too,
                              const std::set<std::string>* chosen_beside, bool unpriced_too) {
    MachineChoices out;
    out.tokens_per_s = tokens_per_s;
    out.planned_too = planned_too;
    out.several_gpus = training.schedule->several_gpus;
    out.chosen_plans = chosen_beside != nullptr;
    std::vector<std::string> capped;
    for (const std::string& id : library_machines()) {
        MachineProfile profile = read_machine_profile(id);
        if (!unpriced_too && price_list(profile, query.quotes).empty()) {
            out.without_price.push_back(id);
            continue;
        }
        if (host_memory_bytes && give_memory(profile, *host_memory_bytes / kGiga))
            capped.push_back(id);
        try {
            out.machines.push_back(try_machine(profile, model, training, tokens_per_s, adjust,
                                               query, planned_too, chosen_beside));
        } catch (const InputError& error) {
            out.left_out.push_back(fmt::format("{}: {}", id, error.what()));
        }
    }
    if (!capped.empty())
        out.capped = fmt::format(
            "these machines are predicted with less than {}, since they cannot have more: {}",
            format_bytes(*host_memory_bytes), fmt::join(capped, ", "));
    std::vector<std::string> unpriced;
    for (const MachineChoice& choice : out.machines)
        if (choice.cost.payment && !choice.cost.payment->unpriced.empty())
            unpriced.push_back(choice.id);
    if (!unpriced.empty())
        out.unpriced = fmt::format(
            "the extra price of the given host memory is not known and not counted for: {}",
            fmt::join(unpriced, ", "));
    std::stable_sort(out.machines.begin(), out.machines.end(),
                     [](const auto& a, const auto& b) { return rank(a) < rank(b); });
    return out;
}

std::vector<std::size_t> pareto_front(const std::vector<std::pair<double, double>>& points) {
    std::vector<std::size_t> order(points.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(points[a].first, -points[a].second) <
               std::pair(points[b].first, -points[b].second);
    });
    std::vector<std::size_t> front;
    for (const std::size_t i : order)
        if (front.empty() || points[i].second > points[front.back()].second) front.push_back(i);
    return front;
}

std::vector<MachinePoint> machine_points(const MachineChoices& choices, CostAxis axis) {
    std::vector<MachinePoint> out;
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i < choices.machines.size(); ++i) {
        const MachineChoice& choice = choices.machines[i];
        if (!choice.does_it || !choice.cost.payment) continue;
        const double usd = axis == CostAxis::usd_per_hour
                               ? choice.cost.run.usd_per_hour
                               : choice.cost.run.usd_per_million_tokens.value;
        out.push_back({i, usd, choice.report.tokens_per_s(), false});
        points.emplace_back(usd, out.back().tokens_per_s);
    }
    for (const std::size_t i : pareto_front(points)) out[i].on_front = true;
    return out;
}

std::vector<FrontMarks> front_marks(const MachineChoices& choices) {
    std::vector<FrontMarks> marks(choices.machines.size());
    for (const MachinePoint& point : machine_points(choices, CostAxis::usd_per_hour))
        marks[point.machine].by_hour = point.on_front;
    for (const MachinePoint& point : machine_points(choices, CostAxis::usd_per_million_tokens))
        marks[point.machine].by_token = point.on_front;
    return marks;
}

}  // namespace sluice

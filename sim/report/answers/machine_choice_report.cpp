#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "sim/answers/predict/lead.h"
#include "sim/answers/search/machine_choice.h"
#include "sim/base/format.h"
#include "sim/base/json_text.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/answers/beside_speed.h"
#include "sim/report/cost_speed.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

/// Machines that are fast enough, but where no program trains this way today; "" if there are none.
std::string not_today(const MachineChoices& choices) {
    std::vector<NamedToday> out;
    for (const MachineChoice& one : choices.machines)
        if (!choices.planned_too && one.report.plan.fit.fits() &&
            one.report.tokens_per_s() >= choices.tokens_per_s)
            out.emplace_back(one.id, &one.report.asked.runs_today);
    return not_today_words(out);
}

template <typename Member>
auto with_smaller_states(Member member) {
    return [member](const MachineChoice& choice) {
        return choice.smaller_states ? Cell(*choice.smaller_states.*member) : Cell();
    };
}

/// The further machines that would reach the goal, the cheapest token first; "" if there are none.
std::string smaller_states_words(const MachineChoices& choices) {
    std::vector<std::pair<double, std::string>> found;
    for (const MachineChoice& one : choices.machines) {
        if (!one.smaller_states) continue;
        const auto& [bytes, tokens_per_s, usd] = *one.smaller_states;
        found.emplace_back(usd.value_or(std::numeric_limits<double>::infinity()),
                           fmt::format("{} with --state-bytes {} ({} tokens/s{})", one.id, bytes,
                                       format_thousands(tokens_per_s),
                                       usd ? fmt::format(", {} a million", format_usd(*usd)) : ""));
    }
    std::ranges::stable_sort(found, {}, &std::pair<double, std::string>::first);
    std::vector<std::string> words;
    for (auto& [usd, one] : found) words.push_back(std::move(one));
    return fmt::format("{}", fmt::join(words, ", "));
}

std::string verdict(const MachineChoice& choice, double wanted) {
    const Prediction& r = choice.report;
    if (!r.plan.fit.fits()) {
        std::string words;
        for (const Shortage& one : choice.shortages)
            words += fmt::format("{}{} needs {}, has {} (short {})", words.empty() ? "" : "; ",
                                 one.memory, format_bytes(one.needed), format_bytes(one.usable),
                                 format_bytes(one.needed - one.usable));
        return words;
    }
    if (r.tokens_per_s() < wanted) return "too slow";
    if (!choice.does_it) return "no program trains this way today";
    if (!choice.cost.payment) return "no price known";
    if (r.speed().low < wanted) return "reaches it, but its band begins below";
    return choice.changes.empty() ? "does it" : "does it with " + setting_flags(choice.changes);
}

/// The machine that reaches the goal for the least money a token; null: none with a price does.
const MachineChoice* cheapest_token(const MachineChoices& choices) {
    const MachineChoice* best = nullptr;
    for (const MachineChoice& one : choices.machines)
        if (one.does_it && one.cost.payment &&
            (best == nullptr || one.cost.run.usd_per_million_tokens.value <
                                    best->cost.run.usd_per_million_tokens.value))
            best = &one;
    return best;
}

/// The share of cases in which a token costs less on the best machine than on this one.
std::optional<double> best_is_cheaper(const MachineChoice* best, const MachineChoice& other) {
    if (best == nullptr || &other == best || !other.does_it || !other.cost.payment) return {};
    return lead_holds(
        other.cost.run.usd_per_million_tokens.value / best->cost.run.usd_per_million_tokens.value,
        best->report, other.report);
}

/// The least money a token, and how sure it is against the two machines that come next.
std::string lead_text(const MachineChoices& choices) {
    const MachineChoice* const best = cheapest_token(choices);
    std::vector<std::pair<double, const MachineChoice*>> next;
    for (const MachineChoice& other : choices.machines)
        if (best_is_cheaper(best, other))
            next.emplace_back(other.cost.run.usd_per_million_tokens.value, &other);
    std::stable_sort(next.begin(), next.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string out = fmt::format("least a token {}: {} a million tokens\n", best->id,
                                  format_usd(best->cost.run.usd_per_million_tokens));
    for (std::size_t i = 0; i < std::min<std::size_t>(2, next.size()); ++i)
        out += fmt::format("              at these prices cheaper than {} {}\n", next[i].second->id,
                           cases_words(*best_is_cheaper(best, *next[i].second)));
    return out;
}

/// Empty if the machines take different batches.
std::string batch_words(const MachineChoices& choices) {
    const TrainingSpec& first = choices.machines.front().report.asked.training;
    for (const MachineChoice& machine : choices.machines) {
        const TrainingSpec& t = machine.report.asked.training;
        if (t.batch != first.batch || t.sequence != first.sequence) return "";
    }
    return fmt::format(", batch {} x {} tokens", first.batch, format_thousands(first.sequence));
}

CostSpeed plot_of(const MachineChoices& choices, CostAxis axis, const char* cost) {
    CostSpeed plot{cost, {}};
    for (const MachinePoint& point : machine_points(choices, axis)) {
        const MachineChoice& machine = choices.machines[point.machine];
        const Prediction& r = machine.report;
        CostSpeedPoint one;
        one.id = static_cast<int>(point.machine);
        one.name = machine.id;
        one.tooltip = fmt::format("{}: {} tokens/s, ${:.3g}", machine.id,
                                  format_thousands(point.tokens_per_s), point.usd);
        one.usd = point.usd;
        one.tokens_per_s = point.tokens_per_s;
        one.low = r.speed().low;
        one.high = r.speed().high;
        one.on_front = point.on_front;
        one.must_be_named = choices.cheapest() == &machine;
        plot.points.push_back(std::move(one));
    }
    return plot;
}

}  // namespace

Table machine_choices_table(const MachineChoices& choices) {
    const std::vector<FrontMarks> marks = front_marks(choices);
    const MachineChoice* const best = cheapest_token(choices);
    const auto marks_of = [&](const MachineChoice& choice) {
        return marks[static_cast<std::size_t>(&choice - choices.machines.data())];
    };
    const auto if_paid = [](auto value) {
        return [value](const MachineChoice& choice) {
            return choice.cost.payment ? Cell(value(choice)) : Cell();
        };
    };
    std::vector<ColumnOf<MachineChoice>> columns = {
        {"machine", "machine", &MachineChoice::id},
        {"does_it", "", Unit::flag, &MachineChoice::does_it},
        {"fits", "", Unit::flag, [](auto& one) { return one.report.plan.fit.fits(); }},
        {"changes", "", [](auto& one) { return setting_flags(one.changes); }},
        {"tokens_per_s", "tokens/s", Unit::whole,
         [](auto& one) { return one.report.tokens_per_s(); }},
        {"tokens_per_s_{}_percent", "5 to 95%", Unit::whole,
         [](auto& one) { return range_of(one.report.speed()); }},
        {"host_memory", "host", [](auto& one) { return host_memory_words(one.host_memory); }},
        {"payment", "", if_paid([](auto& one) { return one.cost.payment->name; })},
        {"price_of", "", if_paid([](auto& one) { return one.cost.payment->origin; })},
        {"gpus_paid", "GPUs paid", Unit::whole, if_paid([](auto& one) {
             return one.cost.payment->paid ? Cell(one.cost.payment->paid->gpus) : Cell();
         })},
        {"usd_per_hour", "$ an hour", Unit::usd,
         if_paid([](auto& one) { return one.cost.run.usd_per_hour; })},
        {"usd_per_million_tokens", "$ a million", Unit::usd,
         if_paid([](auto& one) { return one.cost.run.usd_per_million_tokens.value; })},
        {"usd_per_million_tokens_{}_percent", "", Unit::usd,
         if_paid([](auto& one) { return range_of(one.cost.run.usd_per_million_tokens); })},
        {"on_front_of_usd_per_hour", "", Unit::flag,
         if_paid([&](auto& one) { return marks_of(one).by_hour; })},
        {"on_front_of_usd_per_million_tokens", "", Unit::flag,
         if_paid([&](auto& one) { return marks_of(one).by_token; })},
        {"", "front",
         [&](auto& one) {
             return fmt::format("{}{}", marks_of(one).by_hour ? "h" : "",
                                marks_of(one).by_token ? "t" : "");
         }},
        {"share_of_cases_best_is_cheaper", "best is\ncheaper in", Unit::share,
         [&](auto& one) { return best_is_cheaper(best, one); },
         "share of cases in which a token costs less on the best machine; shared errors cancel"},
        {"smaller_states.state_bytes", "", Unit::whole, with_smaller_states(&SmallerStates::bytes)},
        {"smaller_states.tokens_per_s", "", Unit::whole,
         with_smaller_states(&SmallerStates::tokens_per_s)},
        {"smaller_states.usd_per_million_tokens", "", Unit::usd,
         with_smaller_states(&SmallerStates::usd_per_million_tokens)},
        {"", "verdict", [&](auto& one) { return verdict(one, choices.tokens_per_s); }}};
    add_beside_speed(columns, "tokens_per_s_{}_percent",
                     [](const MachineChoice& one) { return &one.report.asked; });
    return table_of<MachineChoice>(choices.machines, columns);
}

std::string machine_choices_text(const MachineChoices& choices) {
    std::string out;
    if (const MachineChoice* cheapest = choices.cheapest()) {
        const Payment& payment = *cheapest->cost.payment;
        out +=
            fmt::format("least an hour {}: {}, {}\n", cheapest->id,
                        format_usd(cheapest->cost.run.usd_per_hour), speed_text(cheapest->report));
        if (payment.paid) out += fmt::format("              {}\n", paid_words(*payment.paid));
        out += fmt::format("              {}\n", offer_words(payment)) + lead_text(choices);
        std::vector<const MachineChoice*> named = {cheapest};
        if (cheapest_token(choices) != cheapest) named.push_back(cheapest_token(choices));
        for (const MachineChoice* const one : named)
            if (one->host_memory.assumed)
                out += fmt::format(
                    "              {}: {}\n", one->id,
                    host_memory_caveat(one->host_memory, !one->cost.payment->pays_electricity()));
    } else {
        out += "no machine of the library with a known price reaches the goal\n";
    }
    out += "\n" + to_text(machine_choices_table(choices));
    if (choices.chosen_plans)
        out += "plan: auto, the fastest plan for this batch on each machine\n";
    if (!choices.several_gpus)
        out += "one GPU of each; --schedule cluster --gpus 16 tries 16 of each\n";
    out += "front: h, no machine is faster at a lower price an hour; t, at a lower price a token\n";
    if (const std::string words = smaller_states_words(choices); !words.empty())
        out += fmt::format("fits with smaller optimizer states: {}\n", words);
    if (const std::string words = not_today(choices); !words.empty())
        out += fmt::format(
            "not counted, since no program trains this way there today: {}; --planned-too counts "
            "them\n",
            words);
    if (!choices.without_price.empty())
        out += fmt::format("not shown, since no price is known: {}; --unpriced-too shows them\n",
                           fmt::join(choices.without_price, ", "));
    if (!choices.capped.empty()) out += "host memory: " + choices.capped + "\n";
    if (!choices.unpriced.empty()) out += "prices: " + choices.unpriced + "\n";
    if (!choices.left_out.empty()) {
        out += "\nleft out:\n";
        for (const std::string& words : choices.left_out) out += fmt::format("  {}\n", words);
    }
    return out;
}

std::string machine_choices_json(const MachineChoices& choices) {
    Json out = {{"wanted_tokens_per_s", choices.tokens_per_s},
                {"cheapest", choices.cheapest() != nullptr ? Json(choices.cheapest()->id) : Json()},
                {"machines", to_json(machine_choices_table(choices), true)},
                {"planned_too", choices.planned_too},
                {"plan", choices.chosen_plans ? "auto" : "given"},
                {"not_counted", not_today(choices)},
                {"left_out", choices.left_out},
                {"without_price", choices.without_price},
                {"not_priced", choices.unpriced},
                {"less_host_memory", choices.capped}};
    return readable_json(out);
}

std::string machine_choices_csv(const MachineChoices& choices) {
    Table table = machine_choices_table(choices);
    std::vector<Row> kept;
    for (std::size_t i = 0; i < choices.machines.size(); ++i)
        if (choices.machines[i].does_it && choices.machines[i].cost.payment)
            kept.push_back(std::move(table.rows[i]));
    table.rows = std::move(kept);
    return to_csv(table);
}

Picture machine_choices_picture(const MachineChoices& choices) {
    std::string title, subtitle;
    if (!choices.machines.empty()) {
        title = choices.machines.front().report.asked.model_name + ": speed and money by machine";
        subtitle = fmt::format(
            "predicted{}; thin lines: 5 to 95%; blue: no machine is faster for less; grey: the "
            "others",
            batch_words(choices));
    }
    return cost_speed_picture(
        title, subtitle,
        {plot_of(choices, CostAxis::usd_per_hour, "dollars an hour"),
         plot_of(choices, CostAxis::usd_per_million_tokens, "dollars per million tokens")});
}

}  // namespace sluice

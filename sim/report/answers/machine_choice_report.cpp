#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/answers/search/machine_choice.h"
#include "sim/base/json_text.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

std::string verdict(const MachineChoice& choice, double wanted) {
    const Prediction& r = choice.report;
    if (!r.plan.fit.fits()) {
        std::string words;
        for (const Shortage& one : find_shortages(r.plan))
            words += fmt::format("{}{} needs {}, has {} (short {})", words.empty() ? "" : "; ",
                                 one.memory, format_bytes(static_cast<double>(one.needed)),
                                 format_bytes(static_cast<double>(one.usable)),
                                 format_bytes(static_cast<double>(one.needed - one.usable)));
        return words;
    }
    if (r.tokens_per_s() < wanted) return "too slow";
    if (!choice.cost) return "no price known";
    if (r.tokens_per_s_at(r.band->high) < wanted) return "does it, but its band begins below";
    return choice.changes.empty() ? "does it" : "does it with " + setting_flags(choice.changes);
}

/// How the first compares with the next machine by $ an hour and per million tokens.
std::string lead_text(const MachineChoices& choices) {
    const MachineChoice& first = *choices.cheapest();
    const MachineChoice* best = &first;
    for (const MachineChoice& other : choices.machines)
        if (other.does_it && other.cost &&
            other.cost->usd_per_million_tokens.value < best->cost->usd_per_million_tokens.value)
            best = &other;
    const RunCost& cost = *best->cost;
    std::string out = fmt::format("least a token {}: {} a million tokens\n", best->id,
                                  format_usd(cost.usd_per_million_tokens));
    int within = 0;
    for (const MachineChoice& other : choices.machines)
        if (&other != best && other.does_it && other.cost &&
            other.cost->usd_per_million_tokens.low < cost.usd_per_million_tokens.high)
            ++within;
    if (within > 0)
        out +=
            fmt::format("              its lead is smaller than the bands of {} other machine{}\n",
                        within, within == 1 ? "" : "s");
    return out;
}

}  // namespace

Table machine_choices_table(const MachineChoices& choices) {
    const std::vector<FrontMarks> marks = front_marks(choices);
    const auto marks_of = [&](const MachineChoice& choice) {
        return marks[static_cast<std::size_t>(&choice - choices.machines.data())];
    };
    const auto if_paid = [](auto value) {
        return [value](const MachineChoice& choice) {
            return choice.cost ? Cell(value(choice)) : Cell();
        };
    };
    return table_of<MachineChoice>(
        choices.machines,
        {{"machine", "machine", Unit::text, &MachineChoice::id},
         {"does_it", "", Unit::flag, &MachineChoice::does_it},
         {"fits", "", Unit::flag, [](auto& one) { return one.report.plan.fit.fits(); }},
         {"changes", "", Unit::text, [](auto& one) { return setting_flags(one.changes); }},
         {"tokens_per_s", "tokens/s", Unit::whole,
          [](auto& one) { return one.report.tokens_per_s(); }},
         {"tokens_per_s_{}_percent", "5 to 95%", Unit::whole,
          [](auto& one) {
              const Prediction& r = one.report;
              return Range{r.tokens_per_s_at(r.band->high), r.tokens_per_s_at(r.band->low)};
          }},
         {"payment", "", Unit::text, if_paid([](auto& one) { return one.payment->name; })},
         {"price_of", "", Unit::text, if_paid([](auto& one) { return one.payment->origin; })},
         {"usd_per_hour", "$ an hour", Unit::usd,
          if_paid([](auto& one) { return one.cost->usd_per_hour; })},
         {"usd_per_million_tokens", "$ a million", Unit::usd,
          if_paid([](auto& one) { return one.cost->usd_per_million_tokens.value; })},
         {"usd_per_million_tokens_{}_percent", "", Unit::usd, if_paid([](auto& one) {
              const Banded& million = one.cost->usd_per_million_tokens;
              return Range{million.low, million.high};
          })},
         {"on_front_of_usd_per_hour", "", Unit::flag,
          if_paid([&](auto& one) { return marks_of(one).by_hour; })},
         {"on_front_of_usd_per_million_tokens", "", Unit::flag,
          if_paid([&](auto& one) { return marks_of(one).by_token; })},
         {"", "front", Unit::text,
          [&](auto& one) {
              return fmt::format("{}{}", marks_of(one).by_hour ? "h" : "",
                                 marks_of(one).by_token ? "t" : "");
          }},
         {"", "verdict", Unit::text,
          [&](auto& one) { return verdict(one, choices.tokens_per_s); }}});
}

std::string machine_choices_text(const MachineChoices& choices) {
    std::string out;
    if (const MachineChoice* cheapest = choices.cheapest()) {
        out += fmt::format(
            "least an hour {}: {} ({}), {} tokens/s (5 to 95%: {} to {})\n", cheapest->id,
            format_usd(cheapest->cost->usd_per_hour), cheapest->payment->name,
            format_thousands(cheapest->report.tokens_per_s()),
            format_thousands(cheapest->report.tokens_per_s_at(cheapest->report.band->high)),
            format_thousands(cheapest->report.tokens_per_s_at(cheapest->report.band->low)));
        out += lead_text(choices);
    } else {
        out += "no machine of the library with a known price does it\n";
    }
    out += "\n" + to_text(machine_choices_table(choices));
    out += "front: h, no machine is faster for less an hour; t, for less a token\n";
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
                {"left_out", choices.left_out},
                {"not_priced", choices.unpriced},
                {"less_host_memory", choices.capped}};
    return readable_json(out);
}

std::string machine_choices_csv(const MachineChoices& choices) {
    Table table = machine_choices_table(choices);
    std::vector<Row> kept;
    for (std::size_t i = 0; i < choices.machines.size(); ++i)
        if (choices.machines[i].does_it && choices.machines[i].cost)
            kept.push_back(std::move(table.rows[i]));
    table.rows = std::move(kept);
    return to_csv(table);
}

}  // namespace sluice

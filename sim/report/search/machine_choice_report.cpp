// Machines by what they cost: as text, JSON and CSV.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/answers/search/machine_choice.h"
#include "sim/answers/search/machine_points.h"
#include "sim/base/format.h"
#include "sim/base/json_text.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

std::string verdict(const MachineChoice& choice, double wanted) {
    const Prediction& r = choice.report;
    if (!r.plan.fit.fits()) {
        std::string words;
        for (const std::string& one : shortages(r.plan))
            words += (words.empty() ? "" : "; ") + one.substr(0, one.find(';'));
        return words;
    }
    if (r.tokens_per_s() < wanted) return "too slow";
    if (!choice.cost) return "no price known";
    if (r.tokens_per_s_at(r.band->high) < wanted) return "does it, but its band begins below";
    return choice.changes.empty() ? "does it" : "does it with " + choice.changes;
}

std::string price_text(const MachineChoice& choice, double usd) {
    return choice.cost ? format_usd(usd) : "-";
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

Json choice_json(const MachineChoice& choice, const FrontMarks& marks) {
    const Prediction& r = choice.report;
    Json out = {{"machine", choice.id},
                {"does_it", choice.does_it},
                {"fits", r.plan.fit.fits()},
                {"changes", choice.changes},
                {"tokens_per_s", r.tokens_per_s()},
                {"tokens_per_s_5_percent", r.tokens_per_s_at(r.band->high)},
                {"tokens_per_s_95_percent", r.tokens_per_s_at(r.band->low)}};
    if (!choice.cost) return out;
    const Banded& million = choice.cost->usd_per_million_tokens;
    out["payment"] = choice.payment->name;
    out["price_of"] = choice.payment->origin;
    out["usd_per_hour"] = choice.cost->usd_per_hour;
    out["usd_per_million_tokens"] = million.value;
    out["usd_per_million_tokens_5_percent"] = million.low;
    out["usd_per_million_tokens_95_percent"] = million.high;
    out["on_front_of_usd_per_hour"] = marks.by_hour;
    out["on_front_of_usd_per_million_tokens"] = marks.by_token;
    return out;
}

}  // namespace

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
    const std::vector<FrontMarks> marks = front_marks(choices);
    out += fmt::format("\n{:<26} {:>9} {:>19} {:>9} {:>11} {:>5}  {}\n", "machine", "tokens/s",
                       "5 to 95%", "$ an hour", "$ a million", "front", "");
    for (std::size_t i = 0; i < choices.machines.size(); ++i) {
        const MachineChoice& choice = choices.machines[i];
        const Prediction& r = choice.report;
        out += fmt::format(
            "{:<26} {:>9} {:>19} {:>9} {:>11} {:>5}  {}\n", choice.id,
            format_thousands(r.tokens_per_s()),
            fmt::format("{} to {}", format_thousands(r.tokens_per_s_at(r.band->high)),
                        format_thousands(r.tokens_per_s_at(r.band->low))),
            price_text(choice, choice.cost ? choice.cost->usd_per_hour : 0),
            price_text(choice, choice.cost ? choice.cost->usd_per_million_tokens.value : 0),
            fmt::format("{}{}", marks[i].by_hour ? "h" : "", marks[i].by_token ? "t" : ""),
            verdict(choice, choices.tokens_per_s));
    }
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
    const std::vector<FrontMarks> marks = front_marks(choices);
    Json out;
    out["wanted_tokens_per_s"] = choices.tokens_per_s;
    out["cheapest"] = choices.cheapest() != nullptr ? Json(choices.cheapest()->id) : Json();
    out["machines"] = Json::array();
    for (std::size_t i = 0; i < choices.machines.size(); ++i)
        out["machines"].push_back(choice_json(choices.machines[i], marks[i]));
    out["left_out"] = choices.left_out;
    out["not_priced"] = choices.unpriced;
    out["less_host_memory"] = choices.capped;
    return readable_json(out);
}

std::string machine_choices_csv(const MachineChoices& choices) {
    const std::vector<FrontMarks> marks = front_marks(choices);
    std::string out =
        "machine,tokens_per_s,tokens_per_s_5_percent,tokens_per_s_95_percent,usd_per_hour,"
        "usd_per_million_tokens,payment,on_front_of_usd_per_hour,on_front_of_usd_per_million_"
        "tokens\n";
    for (std::size_t i = 0; i < choices.machines.size(); ++i) {
        const MachineChoice& choice = choices.machines[i];
        if (!choice.does_it || !choice.cost) continue;
        const Prediction& r = choice.report;
        out += fmt::format("{},{:.1f},{:.1f},{:.1f},{:.4f},{:.6f},{},{:d},{:d}\n",
                           csv_text(choice.id), r.tokens_per_s(), r.tokens_per_s_at(r.band->high),
                           r.tokens_per_s_at(r.band->low), choice.cost->usd_per_hour,
                           choice.cost->usd_per_million_tokens.value,
                           csv_text(choice.payment->name), marks[i].by_hour, marks[i].by_token);
    }
    return out;
}

}  // namespace sluice

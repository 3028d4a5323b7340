// What does a decision say in sentences?
#include <fmt/format.h>

#include <algorithm>

#include "sim/answers/decision/decision.h"
#include "sim/base/format.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

/// The number a machine is chosen by, so that less is better: dollars, or seconds a token.
Banded measure(const Decision& decision, const Candidate& c) {
    if (decision.aim == Aim::cheapest) return c.cost.cost->usd_per_million_tokens;
    const Prediction& r = c.report();
    return {1 / r.tokens_per_s(), 1 / r.tokens_per_s_at(r.band->low),
            1 / r.tokens_per_s_at(r.band->high)};
}

/// The next best that is a choice, or null.
const Candidate* runner_up(const Decision& decision) {
    const Candidate* next = nullptr;
    for (const Candidate& c : decision.candidates) {
        const bool choice = c.fits() && (decision.aim == Aim::fastest || c.cost.cost);
        if (&c == decision.best() || !choice) continue;
        if (next == nullptr || measure(decision, c).value < measure(decision, *next).value)
            next = &c;
    }
    return next;
}

std::string speed_words(const Prediction& r) {
    return fmt::format("{} tokens/s (5 to 95%: {} to {})", format_thousands(r.tokens_per_s()),
                       format_thousands(r.tokens_per_s_at(r.band->high)),
                       format_thousands(r.tokens_per_s_at(r.band->low)));
}

std::string best_sentence(const Decision& decision) {
    const Candidate& best = *decision.best();
    const bool paid = best.cost.cost.has_value();
    const RunCost cost = best.cost.run;
    std::string out =
        fmt::format("{} trains it {}: ", best.name,
                    decision.aim == Aim::cheapest ? "for the least money" : "fastest");
    if (paid)
        out += fmt::format("{} a million tokens, ", format_usd(cost.usd_per_million_tokens.value));
    out += fmt::format("{}; {} tokens take {}", speed_words(best.report()), tokens_words(decision),
                       format_banded(cost.days, "days"));
    if (paid)
        out += fmt::format(" and {} ({} to {}), at {} an hour ({}: {})", format_usd(cost.usd.value),
                           format_usd(cost.usd.low), format_usd(cost.usd.high),
                           format_usd(cost.usd_per_hour), best.cost.payment->name,
                           best.cost.payment->origin);
    return out + ".";
}

std::string lead_sentence(const Decision& decision) {
    const Candidate* const next = runner_up(decision);
    if (next == nullptr) return "";
    const Banded best = measure(decision, *decision.best()), other = measure(decision, *next);
    const bool overlap = other.low <= best.high;
    const std::string lead = decision.aim == Aim::cheapest
                                 ? format_percent(other.value / best.value - 1) + " dearer"
                                 : format_percent(1 - best.value / other.value) + " slower";
    return fmt::format("Next is {}, {}: {}.", next->name, lead,
                       overlap ? "their bands overlap, so a measurement could reverse the order"
                               : "their bands do not overlap");
}

std::string cheapest_sentence(const Decision& decision) {
    const Candidate* cheapest = nullptr;
    const auto usd = [](const Candidate& c) { return c.cost.cost->usd_per_million_tokens.value; };
    for (const Candidate& c : decision.candidates)
        if (c.fits() && c.cost.cost && (cheapest == nullptr || usd(c) < usd(*cheapest)))
            cheapest = &c;
    if (cheapest == nullptr || decision.candidates.size() == 1) return "";
    if (cheapest == decision.best()) return "It is also the cheapest of those with a price.";
    return fmt::format("Cheapest is {}: {} a million tokens, {}.", cheapest->name,
                       format_usd(usd(*cheapest)), speed_words(cheapest->report()));
}

std::string fastest_sentence(const Decision& decision) {
    if (decision.aim == Aim::fastest) return cheapest_sentence(decision);
    const Candidate* fastest = nullptr;
    for (const Candidate& c : decision.candidates)
        if (c.fits() &&
            (fastest == nullptr || c.report().tokens_per_s() > fastest->report().tokens_per_s()))
            fastest = &c;
    if (fastest == decision.best()) return "It is also the fastest.";
    const RunCost cost = fastest->cost.run;
    const std::string money =
        fastest->cost.cost
            ? fmt::format("{} a million tokens", format_usd(cost.usd_per_million_tokens.value))
            : "no price is known";
    return fmt::format("Fastest is {}: {}, {}, {}.", fastest->name, speed_words(fastest->report()),
                       format_banded(cost.days, "days"), money);
}

/// Words for a machine on which it does not fit.
std::string misfit_sentence(const Candidate& c) {
    const Prediction& r = c.report();
    std::string out = fmt::format("{}: {}", c.name, fmt::join(shortages(r.plan), "; "));
    if (r.advice.suggestions.empty())
        return fmt::format("{}; {}.", out,
                           no_suggestion_text(r.advice.no_suggestion.value_or(NoSuggestion())));
    const Suggestion& first = r.advice.suggestions.front();
    return out + fmt::format("; it fits with {} (device {}, host {}).",
                             setting_flags(first.settings),
                             format_bytes(static_cast<double>(first.device_peak)),
                             format_bytes(static_cast<double>(first.host_peak)));
}

void add_if_any(std::vector<std::string>& sentences, std::string sentence) {
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
}

}  // namespace

std::string tokens_words(const Decision& decision) {
    std::string out = format_count(decision.request.money.tokens);
    const std::size_t unit = out.find(' ');
    if (out.find('.') > unit) return out;
    const std::size_t digit = out.find_last_not_of('0', unit - 1);
    const std::size_t last = out[digit] == '.' ? digit - 1 : digit;
    return out.erase(last + 1, unit - last - 1);
}

std::string question(const Decision& decision) {
    const Prediction& r = decision.candidates.front().report();
    const std::size_t count = decision.candidates.size();
    const TrainingSpec& t = r.asked.training;
    const std::string how = decision.request.advise
                                ? "with the best settings of each"
                                : fmt::format("with batch {} x {} tokens", t.batch,
                                              format_thousands(static_cast<double>(t.sequence)));
    const std::string what =
        fmt::format("train {} ({} parameters, {}) on {} tokens", r.asked.model_name,
                    format_count(static_cast<double>(r.asked.parameters)),
                    format_number_of(r.asked.layers, "layer"), tokens_words(decision));
    return count == 1 ? fmt::format("Should {} {} {}?", decision.candidates.front().name, what, how)
                      : fmt::format("Which of {} machines should {} {}?", count, what, how);
}

std::vector<std::string> answer(const Decision& decision) {
    std::vector<std::string> out;
    if (decision.chosen) {
        out.push_back(best_sentence(decision));
        add_if_any(out, lead_sentence(decision));
        add_if_any(out, fastest_sentence(decision));
    } else {
        out.push_back(decision.candidates.size() == 1 ? "It does not fit."
                                                      : "It fits on none of them.");
    }
    std::vector<std::string> without_price;
    for (const Candidate& c : decision.candidates) {
        if (!c.fits()) out.push_back("Does not fit on " + misfit_sentence(c));
        if (c.fits() && !c.cost.cost) without_price.push_back(c.name);
    }
    if (!without_price.empty() && decision.request.aim == Aim::cheapest)
        out.push_back(fmt::format("No price is known for {}{}; give --price NAME=DOLLARS an hour.",
                                  fmt::join(without_price, ", "),
                                  decision.aim == Aim::fastest ? ", so that speed decides"
                                  : without_price.size() == 1
                                      ? ", so it cannot be chosen by cost"
                                      : ", so they cannot be chosen by cost"));
    const auto& asked = decision.request.machines;
    const bool own = std::any_of(asked.begin(), asked.end(), [](const AskedMachine& machine) {
        return machine.training.has_value();
    });
    if (!decision.request.advise)
        out.push_back(
            fmt::format("Settings are {} and need not be the best of a machine; --advise searches "
                        "the best for each.",
                        own ? "those given for each"
                            : fmt::format("the same everywhere, batch {} among them,",
                                          decision.request.training.batch)));
    return out;
}

}  // namespace sluice

// Sentences of a decision.
#include <fmt/format.h>

#include <algorithm>

#include "sim/answers/cost/run_limits.h"
#include "sim/answers/decision/decision.h"
#include "sim/answers/predict/lead.h"
#include "sim/base/format.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/answers/beside_speed.h"
#include "sim/report/answers/findings.h"
#include "sim/report/report.h"
#include "sim/specs/machine/default_host.h"

namespace sluice {
namespace {

/// The value that decides between machines; smaller is better: dollars, or seconds per token.
Banded measure(const Decision& decision, const Candidate& c) {
    if (decision.aim == Aim::cheapest) return c.cost.run.usd_per_million_tokens;
    const Banded speed = c.report().speed();
    return {1 / speed.value, 1 / speed.high, 1 / speed.low};
}

/// The candidate that can be chosen with the smallest `value`, with a price if that is required;
/// null if there is none. Where the best meets its limits, so does this one.
template <typename Value>
const Candidate* least(const Decision& decision, bool with_price, Value value,
                       const Candidate* left_out = nullptr) {
    const Candidate* out = nullptr;
    for (const Candidate& c : decision.candidates)
        if (&c != left_out && decision.can_choose(c) && (!with_price || c.cost.payment) &&
            (meets(c.cost) || !meets(decision.best()->cost)) &&
            (out == nullptr || value(c) < value(*out)))
            out = &c;
    return out;
}

/// Says which states the choice keeps, where other candidates keep others.
std::string states_sentence(const Decision& decision) {
    const auto states = [](const Candidate& c) { return states_of(c.report().asked.training); };
    const Candidate& best = *decision.best();
    std::vector<std::string> others;
    for (const Candidate& c : decision.candidates)
        if (decision.can_choose(c) && states(c) != states(best)) others.push_back(c.name);
    if (others.empty()) return "";
    return fmt::format("It keeps {}, unlike {}; losses can differ.", states(best),
                       fmt::join(others, ", "));
}

std::string price_sentences(const Candidate& c) {
    const Payment& payment = *c.cost.payment;
    if (payment.ownership == Ownership::own)
        return fmt::format("An hour costs {}: it {}, and the machine is yours.",
                           format_usd(c.cost.run.usd_per_hour), paid_words(*payment.paid));
    std::string out = fmt::format("An hour costs {}{}", format_usd(c.cost.run.usd_per_hour),
                                  payment.paid ? ", which " + paid_words(*payment.paid) : "");
    out += payment.paid
               ? fmt::format(". {} is {}.", payment.pays_electricity() ? "It" : "The offer",
                             offer_words(payment))
               : ", as given.";
    const auto& rents = c.cost.rents;
    if (payment.paid && !payment.pays_electricity() && rents && rents->high > rents->low)
        out += fmt::format(" By offer, a million tokens cost {} to {}.", format_usd(rents->low),
                           format_usd(rents->high));
    return out;
}

void add_if_any(std::vector<std::string>& sentences, std::string sentence) {
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
}

/// Candidates that could be chosen, but for the limits, which the best meets.
std::vector<std::string> outside_limits(const Decision& decision) {
    std::vector<std::string> out;
    for (const Candidate& c : decision.candidates)
        if (decision.can_choose(c) && meets(decision.best()->cost) && !meets(c.cost))
            out.push_back(c.name);
    return out;
}

/// " of those that meet the deadline", where others do not.
std::string among_those_that_meet(const Decision& decision) {
    return outside_limits(decision).empty()
               ? ""
               : " of those that meet " + limits_name(decision.best()->cost.limits);
}

void add_limits(std::vector<std::string>& out, const Decision& decision) {
    const Candidate& best = *decision.best();
    const RunLimits& limits = best.cost.limits;
    if (!limits.any()) return;
    if (meets(best.cost))
        out.push_back(fmt::format("It meets {}.", limits_name(limits)));
    else if (decision.candidates.size() > 1)
        out.push_back(fmt::format("No machine here meets {}.", limits_name(limits)));
    for (std::string& warning : limit_warnings(best.cost)) out.push_back(std::move(warning));
    if (const auto others = outside_limits(decision); !others.empty())
        out.push_back(fmt::format("These do not: {}.", fmt::join(others, ", ")));
}

void add_best(std::vector<std::string>& out, const Decision& decision) {
    const Candidate& best = *decision.best();
    const bool paid = best.cost.payment.has_value();
    const RunCost cost = best.cost.run;
    out.push_back(fmt::format(
        "{} trains it {}{}{}.", best.name,
        decision.aim == Aim::cheapest ? "for the least money" : "fastest",
        among_those_that_meet(decision),
        paid ? fmt::format(": {} a million tokens", format_usd(cost.usd_per_million_tokens.value))
             : ""));
    out.push_back(fmt::format("It reaches {}. {} tokens take {}{}.", speed_text(best.report()),
                              tokens_words(decision), format_days(cost.days),
                              paid ? " and cost " + format_usd(cost.usd) : ""));
    if (cost.usd_at_once > 0)
        out.push_back(fmt::format("That is this run's part of {}, which are paid at once.",
                                  format_usd(cost.usd_at_once)));
    add_limits(out, decision);
    if (paid) out.push_back(price_sentences(best));
    const HostMemory host = host_memory_of(best.profile);
    const bool rented = !best.cost.payment || !best.cost.payment->pays_electricity();
    if (host.assumed && best.report().plan.fit.host().peak.bytes > 0)
        out.push_back("Its " + host_memory_caveat(host, rented) + ".");
    add_if_any(out, states_sentence(decision));
}

/// Says how much a token costs if jobs fill the node of the candidate.
std::string node_sentence(const Candidate& c) {
    if (!c.together || c.together->jobs < 2 || !c.together->paid) return "";
    return fmt::format("{:g} such jobs fill a node of {}: {} tokens/s each, {} a million tokens.",
                       c.together->jobs, c.name, format_thousands(c.together->tokens_per_s),
                       format_usd(c.together->paid->run.usd_per_million_tokens.value));
}

/// "11% dearer"; of a much higher price "20 times the price".
std::string dearer(double ratio) {
    return ratio < 2 ? format_percent(ratio - 1) + " dearer"
                     : fmt::format("{:.2g} times the price", ratio);
}

/// Dollars a million by the cheapest offer that holds the plan, where the price is a typical rent.
double usd_by_cheapest_offer(const Candidate& c) {
    const auto& payment = c.cost.payment;
    const double usd = c.cost.run.usd_per_million_tokens.value;
    const bool typical = payment->paid && !payment->pays_electricity() && c.cost.rents;
    return typical && c.cost.rents->low > 0 ? std::min(usd, c.cost.rents->low) : usd;
}

/// Who costs the least by the cheapest offer of each, where that is another.
std::string cheapest_offers(const Decision& decision) {
    if (decision.aim != Aim::cheapest) return "";
    const Candidate* const cheapest = least(decision, true, usd_by_cheapest_offer);
    if (cheapest == nullptr || cheapest == decision.best()) return "";
    return fmt::format(
        " By the cheapest offer of each, {} costs the least: {} a million against "
        "{}.",
        cheapest->name, format_usd(usd_by_cheapest_offer(*cheapest)),
        format_usd(usd_by_cheapest_offer(*decision.best())));
}

std::string lead_sentence(const Decision& decision) {
    const Candidate* const next = least(
        decision, decision.aim == Aim::cheapest,
        [&](const Candidate& c) { return measure(decision, c).value; }, decision.best());
    if (next == nullptr) return "";
    const Banded best = measure(decision, *decision.best()), other = measure(decision, *next);
    const std::string lead = decision.aim == Aim::cheapest
                                 ? dearer(other.value / best.value)
                                 : format_percent(1 - best.value / other.value) + " slower";
    const Prediction &ahead = decision.best()->report(), &behind = next->report();
    const std::string sure =
        ahead.band && behind.band
            ? fmt::format("; {}{} stays ahead {}",
                          decision.aim == Aim::cheapest ? "at these prices " : "",
                          decision.best()->name,
                          cases_words(lead_holds(other.value / best.value, ahead, behind)))
            : "";
    return fmt::format("Next is {}, {}{}.{}", next->name, lead, sure, cheapest_offers(decision));
}

std::string cheapest_sentence(const Decision& decision) {
    const auto usd = [](const Candidate& c) { return c.cost.run.usd_per_million_tokens.value; };
    const Candidate* const cheapest = least(decision, true, usd);
    if (cheapest == nullptr || decision.candidates.size() == 1) return "";
    if (cheapest == decision.best())
        return fmt::format("It is also the cheapest{}.", outside_limits(decision).empty()
                                                             ? " of those with a price"
                                                             : among_those_that_meet(decision));
    return fmt::format("Cheapest is {}: {} a million tokens, {}.", cheapest->name,
                       format_usd(usd(*cheapest)), speed_text(cheapest->report()));
}

std::string fastest_sentence(const Decision& decision) {
    if (decision.aim == Aim::fastest) return cheapest_sentence(decision);
    if (decision.candidates.size() == 1) return "";
    const Candidate* const fastest =
        least(decision, false, [](const Candidate& c) { return -c.report().tokens_per_s(); });
    if (fastest == decision.best())
        return fmt::format("It is also the fastest{}.", among_those_that_meet(decision));
    const RunCost cost = fastest->cost.run;
    const std::string money =
        fastest->cost.payment
            ? fmt::format("{} a million tokens", format_usd(cost.usd_per_million_tokens.value))
            : "no price is known";
    return fmt::format("Fastest is {}: {}, {}, {}.", fastest->name, speed_text(fastest->report()),
                       format_days(cost.days), money);
}

/// The candidates that fit but where no program trains this way today, and the systems that run
/// there.
void add_not_today(std::vector<std::string>& out, const Decision& decision) {
    if (decision.request.planned_too) return;
    std::vector<NamedToday> all;
    std::vector<std::string> instead;
    for (const Candidate& c : decision.candidates) {
        if (!c.fits() || c.today().runs()) continue;
        all.emplace_back(c.name, &c.today());
        std::vector<std::string> systems;
        for (const Schedule schedule : schedules_of(c.machine))
            if (runs_today(schedule, decision.request.model, c.machine).runs())
                systems.emplace_back(schedule->name);
        if (!systems.empty())
            instead.push_back(fmt::format("{}: {}", c.name, fmt::join(systems, ", ")));
    }
    if (all.empty()) return;
    out.push_back(fmt::format("Left out, since no program trains this way there today: {}.",
                              not_today_words(all)));
    if (!instead.empty())
        out.push_back(fmt::format("Systems that run there today{}: {}.",
                                  decision.request.chooses_system() ? " do not fit" : "",
                                  fmt::join(instead, "; ")));
}

}  // namespace

std::vector<std::string> answer(const Decision& decision) {
    std::vector<std::string> out;
    if (decision.chosen) {
        add_best(out, decision);
        add_if_any(out, node_sentence(*decision.best()));
        add_if_any(out, lead_sentence(decision));
        add_if_any(out, fastest_sentence(decision));
    } else {
        const bool fits = std::ranges::any_of(decision.candidates, &Candidate::fits);
        out.push_back(fits                              ? "No program trains it this way today."
                      : decision.candidates.size() == 1 ? "It does not fit."
                                                        : "It fits on none of them.");
    }
    add_not_today(out, decision);
    std::vector<std::string> without_price;
    for (const Candidate& c : decision.candidates) {
        if (!c.fits()) out.push_back("Does not fit on " + misfit_sentence(c.name, c.report()));
        if (c.fits() && !c.cost.payment)
            without_price.push_back(
                c.cost.no_rent.empty() ? c.name : fmt::format("{} ({})", c.name, c.cost.no_rent));
    }
    if (!without_price.empty() && decision.request.aim == Aim::cheapest)
        out.push_back(fmt::format("No price is known for {}{}; give --price NAME=DOLLARS an hour.",
                                  fmt::join(without_price, ", "),
                                  decision.aim == Aim::fastest ? ", so that speed decides"
                                  : without_price.size() == 1
                                      ? ", so it cannot be chosen by cost"
                                      : ", so they cannot be chosen by cost"));
    if (decision.request.has_own_settings())
        out.push_back("Each machine has the settings given for it.");
    else if (decision.request.chosen_beside)
        out.push_back(fmt::format("Each machine has its fastest plan for batch {}.",
                                  decision.request.training.batch));
    else if (!decision.request.advise)
        out.push_back(
            fmt::format("{} the settings as given, with batch {}; others may be faster.",
                        decision.candidates.size() == 1 ? "The machine has" : "All machines have",
                        decision.request.training.batch));
    return out;
}

std::string track_record_words(const TrackRecord& r) {
    return fmt::format(
        "Calibrated machine {}, {}, held-out runs ({}): error in tokens/s {:.1f}% on average, "
        "{:.1f}% at worst; in device memory {:.1f}% and {:.1f}%, in host memory {:.1f}% and "
        "{:.1f}%; {:g}% of the steps were within the band.",
        r.profile, r.date, r.runs, r.tokens_per_s.mean_percent, r.tokens_per_s.worst_percent,
        r.device.mean_percent, r.device.worst_percent, r.host.mean_percent, r.host.worst_percent,
        r.band_percent);
}

}  // namespace sluice

// Which decision do the tests of sentences and of the page read? Machines with given speeds and
// prices.
#pragma once

#include "sim/answers/decision/decision.h"
#include "tests/sim/report/one_layer_report.h"

namespace sluice {

/// One layer that takes 1 s, at another speed; `usd_per_hour` 0: no price is known.
inline Candidate made_candidate(const std::string& name, double tokens_per_s, double usd_per_hour,
                                const RunLimits& limits = {}) {
    Candidate c;
    c.name = name;
    c.machine.id = c.machine.name = name;
    Prediction r = one_layer_report();
    r.asked.machine_id = r.asked.machine_name = name;
    const double faster =
        r.step.seconds * tokens_per_s / static_cast<double>(r.asked.training.tokens());
    r.step.seconds /= faster;
    for (OperationInterval& interval : r.step.intervals) {
        interval.start /= faster;
        interval.end /= faster;
    }
    r.step.lanes = lane_times(r.plan.program, r.step.intervals, r.step.seconds);
    r.band = {0.9 * r.step.seconds, 1.2 * r.step.seconds};
    r.plan.fit.device() = {Tier::device, {40'000'000'000, 0, {}}, 80'000'000'000};
    r.plan.fit.host() = {Tier::host, {250'000'000'000, 0, {}}, 500'000'000'000};
    MachineMoney money;
    CostQuery query;
    query.tokens = 2e9;
    query.limits = limits;
    if (usd_per_hour > 0) query.usd_per_hour = usd_per_hour;
    c.cost = answer_cost(r, c.machine, money, query);
    c.prediction = std::move(r);
    return c;
}

inline Candidate made_misfit_candidate(const std::string& name) {
    Candidate c = made_candidate(name, 5000, 1);
    c.prediction.plan.fit.device().peak.bytes = 90'000'000'000;
    TrainingSpec smaller = c.report().asked.training;
    c.prediction.advice.suggestions = {
        {{{"batch", "5"}}, smaller, 45'000'000'000, 250'000'000'000}};
    return c;
}

inline Decision made_decision(std::vector<Candidate> candidates) {
    Decision out;
    out.request.money.tokens = 2e9;
    out.request.date = "2026-01-02";
    out.request.version = "9.9";
    out.candidates = std::move(candidates);
    choose(out);
    return out;
}

}  // namespace sluice

// Which comparison do the tests of sentences and writers read? Systems with given speeds.
#pragma once

#include "sim/answers/compare/comparison.h"

namespace sluice {

/// 1000 tokens a step on a device of 80 GB and a host of 500 GB, of which it takes half.
inline ComparedSystem made_system(Schedule schedule, double tokens_per_s) {
    ComparedSystem system;
    system.name = schedule->name;
    Prediction& r = system.report;
    r.asked.model_name = "tiny";
    r.asked.machine_id = r.asked.machine_name = "box";
    r.asked.layers = 4;
    r.asked.parameters = 1'000'000'000;
    r.asked.training.schedule = schedule;
    r.asked.training.batch = 10;
    r.asked.training.sequence = 100;
    r.step.seconds = 1000 / tokens_per_s;
    r.band = {0.9 * r.step.seconds, 1.1 * r.step.seconds};
    r.step.critical_shares[Work::optimizer] = 0.75;
    r.step.critical_shares[Work::compute] = 0.25;
    r.plan.fit.device() = {Tier::device, {40'000'000'000, 0, {}}, 80'000'000'000};
    r.plan.fit.host() = {Tier::host, {250'000'000'000, 0, {}}, 500'000'000'000};
    return system;
}

/// Needs 90 GB of the 80, nearly all of it activations; fits with a batch of 5.
inline ComparedSystem made_misfit(Schedule schedule, double tokens_per_s,
                                  double suggested_tokens_per_s) {
    ComparedSystem system = made_system(schedule, tokens_per_s);
    Peak& peak = system.report.plan.fit.device().peak;
    peak.bytes = 90'000'000'000;
    peak.by_kind[static_cast<std::size_t>(MemoryKind::activations)] = 88'000'000'000;
    TrainingSpec smaller = system.report.asked.training;
    smaller.batch = 5;
    system.report.advice.suggestions = {
        {{{"batch", "5"}}, smaller, 45'000'000'000, 250'000'000'000}};
    system.suggested_tokens_per_s = suggested_tokens_per_s;
    return system;
}

inline Comparison with_layers(Comparison comparison, int layers) {
    for (ComparedSystem& system : comparison.systems) system.report.asked.layers = layers;
    return comparison;
}

}  // namespace sluice

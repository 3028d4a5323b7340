#include "planner-gui/session/session_jobs.h"

#include <QCoreApplication>
#include <QDate>
#include <algorithm>
#include <set>

#include "planner-gui/session/prediction.h"

namespace sluice {
namespace {

/// Whether it is a machine of the library under its own name.
bool in_library(const std::string& machine) {
    const std::vector<std::string> names = library_machines();
    return std::find(names.begin(), names.end(), machine) != names.end();
}

}  // namespace

bool is_cluster(const PlannedScenario& planned) {
    const auto typed = planned.training.find("schedule");
    return typed != planned.training.end() && typed->second == schedule_name(Schedule::cluster);
}

std::vector<std::string> machines_to_try(const PlannedScenario& planned) {
    const std::string& own = planned.machine.machine;
    std::vector<std::string> out = {own};
    for (const std::string& id : library_machines()) {
        // h200-sxm-pcie5 is there as h200-sxm-pcie5-1.5tb.
        const bool with_size = own.starts_with(id + "-") && !in_library(own);
        if (id != own && !with_size) out.push_back(id);
    }
    return out;
}

DecisionRequest decision_request(const PlannedScenario& planned,
                                 const std::vector<PlannedScenario>& others) {
    const auto gpus_of = [](const TrainingSpec& training) {
        return training.schedule == Schedule::cluster ? training.gpus : 0;
    };
    const Scenario s = resolve(planned);
    DecisionRequest out;
    out.model = s.model;
    out.training = s.training;
    out.money = s.money;
    const std::int64_t gpus = gpus_of(s.training);
    out.machines.push_back({s.profile, gpus, std::nullopt, s.machine_changes});
    std::set<std::pair<std::string, std::int64_t>> named = {{planned.machine.machine, gpus}};
    for (const PlannedScenario& other : others) {
        const std::string& name = other.machine.machine;
        AskedMachine asked{{}, gpus, std::nullopt, {}};
        if (gpus > 0 || is_cluster(other)) {
            Scenario one = resolve(other);
            asked = {std::move(one.profile), gpus_of(one.training), std::nullopt,
                     std::move(one.machine_changes)};
            if (asked.gpus != gpus) asked.training = one.training;
        } else if (!named.contains(
                       {name,
                        gpus})) {  // whose own settings, which may hold mistakes, do not matter
            asked.profile = read_profile_flags(other.machine, asked.changes);
            resolve_machine_flags(asked.profile, other.machine);
        }
        if (named.insert({name, asked.gpus}).second) out.machines.push_back(std::move(asked));
    }
    if (out.machines.size() > 1) {  // one price or offer is not of all machines
        if (out.money.price_usd) out.money.buy = true;
        out.money.usd_per_hour = out.money.price_usd = std::nullopt;
        out.money.offer.reset();
    }
    out.date = QDate::currentDate().toString(Qt::ISODate).toStdString();
    out.version = QCoreApplication::applicationVersion().toStdString();
    return out;
}

ScenarioValue value_of(const PlannedScenario& planned, bool with_band) {
    ScenarioValue out;
    out.planned = planned;
    try {
        Prediction prediction = predict_scenario(planned);
        if (with_band && prediction.report().fit.fits()) add_band(prediction);
        const StepReport& report = prediction.report();
        out.fit = report.fit;
        out.shortages = find_shortages(report);
        out.model = report.model_name;
        out.training = report.training;
        out.step = report.step;
        out.step_low = report.step_low;
        out.step_high = report.step_high;
        out.bottleneck = report.bottleneck_words;
        if (prediction.cost.cost) {
            out.usd_per_hour = prediction.cost.cost->usd_per_hour;
            out.usd_per_million_tokens = prediction.cost.cost->usd_per_million_tokens.value;
            out.price_of = prediction.cost.payment->name + ": " + prediction.cost.payment->origin;
        }
    } catch (const InputError& error) {
        out.refused = error.what();
    }
    return out;
}

}  // namespace sluice

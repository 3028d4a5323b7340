#include "planner-gui/session/session_jobs.h"

#include <QCoreApplication>
#include <QDate>
#include <algorithm>
#include <set>

#include "planner-gui/session/prediction.h"
#include "sim/report/report.h"
#include "sim/specs/machine/default_host.h"

namespace sluice {
namespace {

/// Whether it is a machine of the library under its own name.
bool in_library(const std::string& machine) {
    const std::vector<std::string> names = library_machines();
    return std::find(names.begin(), names.end(), machine) != names.end();
}

/// 0: one GPU, which trains from host memory.
std::int64_t gpus_of(const TrainingSpec& training) {
    return training.schedule->several_gpus ? training.gpus : 0;
}

/// The same run and terms, with the price of another machine.
CostQuery paid_as(CostQuery query, const CostQuery& other) {
    query.offer = other.offer;
    query.usd_per_hour = other.usd_per_hour;
    query.buy = other.buy;
    query.price_usd = other.price_usd;
    query.gpus_paid = other.gpus_paid;
    return query;
}

}  // namespace

bool is_cluster(const PlannedScenario& planned) {
    const auto typed = planned.training.find("schedule");
    return typed != planned.training.end() &&
           typed->second == schedule_with(&ScheduleRecord::several_gpus)->name;
}

std::vector<std::string> machines_to_try(const PlannedScenario& planned) {
    const std::string& own = planned.machine.machine;
    std::vector<std::string> out = {own};
    for (const std::string& id : library_machines()) {
        // h200-sxm-pcie5 is already there as h200-sxm-pcie5-1.5tb.
        const bool with_size = own.starts_with(id + "-") && !in_library(own);
        if (id != own && !with_size) out.push_back(id);
    }
    return out;
}

DecisionRequest decision_request(const PlannedScenario& planned,
                                 const std::vector<PlannedScenario>& others) {
    const Scenario own = resolve(planned);
    const std::int64_t gpus = gpus_of(own.training);
    DecisionRequest out;
    out.model = own.model;
    out.training = own.training;
    out.money = own.money;
    out.machines.push_back({own.profile, gpus, std::nullopt});
    std::set<std::pair<std::string, std::int64_t>> named = {{planned.machine.machine, gpus}};
    for (const PlannedScenario& other : others) {
        PlannedScenario asked = other;
        if (gpus == 0 && !is_cluster(other)) {
            // Its own settings are not used, so mistakes in them do not matter.
            if (named.contains({other.machine.machine, gpus})) continue;
            asked.training = planned.training;
        }
        const Scenario one = resolve(asked);
        const std::int64_t its_gpus = gpus_of(one.training);
        if (!named.insert({other.machine.machine, its_gpus}).second) continue;
        out.machines.push_back({one.profile, its_gpus, std::nullopt});
        if (its_gpus != gpus) out.machines.back().training = one.training;
        out.machines.back().money = paid_as(own.money, one.money);
    }
    out.date = QDate::currentDate().toString(Qt::ISODate).toStdString();
    out.version = QCoreApplication::applicationVersion().toStdString();
    return out;
}

ScenarioValue value_of(const PlannedScenario& planned, bool with_band) {
    ScenarioValue out;
    out.planned = planned;
    try {
        const ScenarioAnswer prediction = answer_scenario(
            planned, {.band = with_band ? Wanted::Band::where_it_fits : Wanted::Band::none});
        const Prediction& report = prediction.report();
        out.fit = report.plan.fit;
        out.host = host_memory_words(prediction.scenario.profile);
        out.shortages = find_shortages(report.plan);
        out.model = report.asked.model_name;
        out.training = report.asked.training;
        out.step = report.step.seconds;
        if (report.band) {
            out.step_low = report.band->low;
            out.step_high = report.band->high;
        }
        out.bound_by = bottleneck_label(report.step.bottleneck());
        out.bottleneck = bottleneck_text(report.step);
        if (prediction.cost.payment) {
            out.usd_per_hour = prediction.cost.run.usd_per_hour;
            out.usd_per_million_tokens = prediction.cost.run.usd_per_million_tokens.value;
            out.price_of = payment_words(*prediction.cost.payment);
        }
    } catch (const InputError& error) {
        out.refused = error.what();
    }
    return out;
}

}  // namespace sluice

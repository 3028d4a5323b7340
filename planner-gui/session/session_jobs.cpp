#include "planner-gui/session/session_jobs.h"

#include <fmt/format.h>

#include <QCoreApplication>
#include <QDate>
#include <algorithm>
#include <set>

#include "planner-gui/session/prediction.h"
#include "sim/answers/compare/comparison.h"
#include "sim/answers/search/advise_grid.h"
#include "sim/plan/schedules/cluster.h"
#include "sim/report/report.h"
#include "sim/specs/scenario/changed_scenario.h"

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

/// As in the window; the page's tables name the scenario where two have the same machine.
AskedMachine asked_machine(const PlannedScenario& planned, const CostQuery& run) {
    try {
        const Scenario one = resolve(planned);
        AskedMachine out{one.profile, gpus_of(one.training), std::nullopt};
        out.planned = planned;
        out.planned.money["tokens"] = fmt::format("{}", run.tokens);
        out.training = one.training;
        out.money = one.money;
        out.money->tokens = run.tokens;
        return out;
    } catch (const InputError& error) {
        throw InputError(fmt::format("scenario \"{}\": {}", planned.name, error.what()),
                         error.field());
    }
}

}  // namespace

PlannedScenario at_point(PlannedScenario planned, const std::vector<Setting>& axes,
                         PointSettings settings) {
    if (settings == PointSettings::fastest) forget_free_choices(planned);
    return with_settings(std::move(planned), axes);
}

bool is_cluster(const PlannedScenario& planned) {
    const auto typed = planned.training.find("schedule");
    return typed != planned.training.end() &&
           typed->second == schedule_with(&ScheduleRecord::several_gpus)->name;
}

std::vector<std::string> machines_to_try(const PlannedScenario& planned, bool all) {
    const std::string& own = planned.machine.machine;
    std::vector<std::string> out = {own};
    for (const std::string& id : all ? library_machines() : priced_machines()) {
        // h200-sxm-pcie5 is already there as h200-sxm-pcie5-1.5tb.
        const bool with_size = own.starts_with(id + "-") && !in_library(own);
        if (id != own && !with_size) out.push_back(id);
    }
    return out;
}

std::vector<MachineWay> ways_to_try(const PlannedScenario& planned, bool all) {
    constexpr std::int64_t kMostNodes = 8;
    const std::string cluster = schedule_with(&ScheduleRecord::several_gpus)->name;
    const TrainingSpec asked = training_values(planned);
    std::vector<MachineWay> out;
    for (const std::string& machine : machines_to_try(planned, all)) {
        for (const Schedule schedule : all_schedules()) out.push_back({machine, schedule->name});
        std::set<std::int64_t> counts;
        try {
            const MachineSpec spec = read_machine({machine, {}, {}}).spec;
            const bool joined = joins_gpus(spec);
            const std::int64_t node = spec.interconnect.gpus_per_node;
            const std::int64_t nodes = spec.interconnect.has_network() ? kMostNodes : 1;
            for (std::int64_t gpus = 2; joined && gpus < node; gpus *= 2) counts.insert(gpus);
            for (std::int64_t many = 1; joined && many <= nodes; many *= 2)
                counts.insert(many * node);
            std::erase_if(counts, [&](std::int64_t gpus) { return asked.batch % gpus != 0; });
        } catch (const InputError&) {
            // A row of one GPU says what is wrong.
        }
        if (is_cluster(planned)) counts.insert(asked.gpus);
        for (const std::int64_t gpus : counts) out.push_back({machine, cluster, gpus});
    }
    return out;
}

ScenarioValue value_of_way(const PlannedScenario& planned, const MachineWay& way) {
    PlannedScenario there = on_machine(planned, way.machine, way.schedule);
    if (way.gpus > 1) there.training["gpus"] = std::to_string(way.gpus);
    const bool own = way.machine == planned.machine.machine;
    return fastest_value_of(there, own ? given_options(planned) : std::set<std::string>{}, true);
}

DecisionRequest decision_request(const PlannedScenario& planned,
                                 const std::vector<PlannedScenario>& others) {
    const Scenario own = resolve(planned);
    DecisionRequest out;
    out.model = own.model;
    out.training = own.training;
    out.money = own.money;
    std::vector<PlannedScenario> asked = {planned};
    for (const PlannedScenario& other : others)
        if (std::none_of(asked.begin(), asked.end(),
                         [&](const PlannedScenario& one) { return ask_the_same(one, other); }))
            asked.push_back(other);
    for (const PlannedScenario& one : asked) out.machines.push_back(asked_machine(one, own.money));
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
        out.host = host_memory_of(prediction.scenario.profile);
        out.shortages = find_shortages(report.plan);
        out.asked = report.asked;
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

std::string MachineSystem::name() const { return format_gpus(value.asked.training.gpus, machine); }

std::string MachineSystem::short_name() const {
    const std::string& id = value.asked.machine_id;  // of a path: the file's name
    return cut_to_letters(format_gpus(value.asked.training.gpus, id.empty() ? machine : id),
                          kMostNameLetters);
}

ScenarioValue fastest_value_of(const PlannedScenario& planned, const std::set<std::string>& fixed,
                               bool with_band) {
    try {
        ScenarioValue out = value_of(with_fastest_plan(planned, fixed).planned, with_band);
        out.fastest_plan = out.is_planned();
        return out;
    } catch (const InputError&) {
        return value_of(planned, with_band);  // says what is wrong
    }
}

ScenarioValue value_at_point(const PlannedScenario& planned, const std::vector<Setting>& axes,
                             PointSettings settings) {
    const PlannedScenario one = at_point(planned, axes, settings);
    if (settings == PointSettings::given) return value_of(one, false);
    std::set<std::string> fixed;
    for (const Setting& axis : axes) fixed.insert(axis.field);
    return fastest_value_of(one, fixed, false);
}

}  // namespace sluice

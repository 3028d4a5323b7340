#include "planner-gui/session/session_jobs.h"

#include <QCoreApplication>
#include <QDate>
#include <algorithm>

#include "planner-gui/session/prediction.h"

namespace sluice {

PlannedScenario with_value(PlannedScenario planned, const std::string& field,
                           const std::string& value) {
    const auto& options = training_options();
    const bool is_option = std::any_of(options.begin(), options.end(),
                                       [&](const Option& option) { return field == option.field; });
    if (is_option) {
        planned.training[field] = value;
    } else if (field == "layers") {
        planned.model.layers = value;
    } else if (field == "model") {
        planned.model.model = value;
    } else if (field == "machine") {
        planned.machine.machine = value;
    } else if (field == "host_memory") {
        planned.machine.host_memory = value;
    } else {
        std::erase_if(planned.machine.settings,
                      [&](const std::string& setting) { return setting.starts_with(field + "="); });
        planned.machine.settings.push_back(field + "=" + value);
    }
    return planned;
}

PlannedScenario on_machine(PlannedScenario planned, const std::string& machine,
                           const std::string& schedule) {
    if (planned.machine.machine != machine) planned.machine = {machine, {}, {}};
    planned.training["schedule"] = schedule;
    TrainingSpec training;
    const Option& declared = training_options().front();
    set_option(training, declared, schedule, option_flag(declared));
    for (const Option& option : training_options())
        if (!has_option(training.schedule, option)) planned.training.erase(option.field);
    return planned;
}

DecisionRequest decision_request(const PlannedScenario& planned,
                                 const std::vector<std::string>& machines) {
    const Scenario s = resolve(planned);
    DecisionRequest out;
    out.model = s.model;
    out.training = s.training;
    out.money = s.money;
    out.machines.push_back({s.profile, 0, std::nullopt});
    for (const std::string& machine : machines)
        if (machine != planned.machine.machine)
            out.machines.push_back({read_machine_profile(machine), 0, std::nullopt});
    if (out.machines.size() > 1) {  // one price or offer is not of all machines
        out.money.usd_per_hour = out.money.price_usd = std::nullopt;
        out.money.offer.reset();
    }
    out.date = QDate::currentDate().toString(Qt::ISODate).toStdString();
    out.version = QCoreApplication::applicationVersion().toStdString();
    return out;
}

ScenarioValue value_of(const PlannedScenario& planned) {
    ScenarioValue out;
    out.planned = planned;
    try {
        const Prediction prediction = predict_scenario(planned);
        const StepReport& report = prediction.report();
        out.fits = report.fit.fits();
        out.tokens_per_s = report.tokens_per_s();
        out.step = report.step;
        out.device_peak = report.fit.device.peak.bytes;
        out.device_usable = report.fit.device.usable;
        out.host_peak = report.fit.host.peak.bytes;
        out.host_usable = report.fit.host.usable;
        out.bottleneck = report.bottleneck;
        if (prediction.cost.cost) {
            out.usd_per_hour = prediction.cost.cost->usd_per_hour;
            out.usd_per_million_tokens = prediction.cost.cost->usd_per_million_tokens.value;
        }
    } catch (const InputError& error) {
        out.refused = error.what();
    }
    return out;
}

}  // namespace sluice

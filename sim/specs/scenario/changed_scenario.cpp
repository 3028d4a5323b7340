#include "sim/specs/scenario/changed_scenario.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/specs/scenario/money_options.h"

namespace sluice {
namespace {

template <typename Options>
bool is_field_of(const Options& options, const std::string& field) {
    return std::ranges::any_of(options, [&](const auto& one) { return field == one.field; });
}

/// An empty value removes the field.
void set(std::map<std::string, std::string>& values, const std::string& field,
         const std::string& value) {
    value.empty() ? void(values.erase(field)) : void(values[field] = value);
}
std::optional<std::string> if_given(const std::string& value) {
    return value.empty() ? std::nullopt : std::optional(value);
}

/// Replaces an earlier what-if value of the same number.
void set_number(PlannedMachine& machine, const std::string& path, const std::string& value) {
    std::erase_if(machine.settings,
                  [&](const std::string& setting) { return setting.starts_with(path + "="); });
    if (!value.empty()) machine.settings.push_back(path + "=" + value);
}

}  // namespace

std::set<std::string> given_options(const PlannedScenario& planned) {
    std::set<std::string> out;
    for (const auto& [field, text] : planned.training) out.insert(field);
    return out;
}

PlannedScenario overlaid(PlannedScenario base, const PlannedScenario& over) {
    if (!over.model.model.empty()) base.model.model = over.model.model;
    if (over.model.layers) base.model.layers = over.model.layers;
    base.model.untied |= over.model.untied;
    if (over.model.vocabulary) base.model.vocabulary = over.model.vocabulary;
    if (!over.machine.machine.empty()) base.machine.machine = over.machine.machine;
    if (over.machine.host_memory) base.machine.host_memory = over.machine.host_memory;
    base.machine.settings.insert(base.machine.settings.end(), over.machine.settings.begin(),
                                 over.machine.settings.end());
    for (const auto& [field, value] : over.training) base.training[field] = value;
    for (const auto& [field, value] : over.money) base.money[field] = value;
    return base;
}

PlannedScenario with_settings(PlannedScenario planned, const std::vector<Setting>& settings) {
    for (const Setting& one : settings)
        planned = with_value(std::move(planned), one.field, one.value);
    return planned;
}

PlannedScenario with_value(PlannedScenario planned, const std::string& field,
                           const std::string& value) {
    if (is_field_of(training_options(), field)) {
        set(planned.training, field, value);
    } else if (is_field_of(money_options(), field)) {
        set(planned.money, field, value);
    } else if (field == "layers") {
        planned.model.layers = if_given(value);
    } else if (field == "model") {
        planned.model.model = value;
    } else if (field == "machine") {
        planned.machine.machine = value;
    } else if (field == "host_memory") {
        planned.machine.host_memory = if_given(value);
    } else if (field == "host.memory_capacity_gb") {
        planned.machine.host_memory = value + "GB";
    } else {
        set_number(planned.machine, field, value);
    }
    return planned;
}

PlannedScenario on_machine(PlannedScenario planned, const std::string& machine,
                           const std::string& schedule) {
    if (planned.machine.machine != machine) {
        planned.machine = {machine, {}, {}};
        if (planned.money.contains("price_usd"))
            planned.money["ownership"] = ownership_name(Ownership::buy);
        if (const auto given = planned.money.find("ownership");
            given != planned.money.end() && given->second == ownership_name(Ownership::own))
            planned.money.erase(given);
        for (const char* const field :
             {"offer", "usd_per_hour", "price_usd", "node_usd", "gpus_paid", "host_watts"})
            planned.money.erase(field);
    }
    planned.training["schedule"] = schedule;
    TrainingSpec training;
    const Option& declared = training_options().front();
    const auto choice = std::find_if(declared.choices.begin(), declared.choices.end(),
                                     [&](const Choice& one) { return schedule == one.name; });
    if (choice == declared.choices.end()) return planned;  // a mistake that resolve() reports
    declared.set(training, choice->value);
    for (const Option& option : training_options())
        if (!has_option(training.schedule, option)) planned.training.erase(option.field);
    return planned;
}

}  // namespace sluice

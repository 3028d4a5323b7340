#include "sim/specs/scenario/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>

#include "sim/base/format.h"
#include "sim/specs/model/read_model.h"
#include "sim/specs/scenario/option_effect.h"

namespace sluice {
namespace {

/// A number above 0 of at most 1e15; `where` is its name in messages.
double parse_positive(std::string_view text, std::string_view where) {
    constexpr double kLargest = 1e15;
    const std::optional<double> value = parse_number(text);
    if (!value || !(*value > 0 && *value <= kLargest))
        throw InputError(fmt::format("{} is \"{}\", expected a number above 0", where, text));
    return *value;
}

struct WhatIf {
    std::string path;
    double value;
};

WhatIf parse_what_if(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
        throw InputError(fmt::format(
            "--set is \"{}\", expected PATH=NUMBER, as in link.host_to_device_gb_per_s=100", text));
    }
    const std::string path = text.substr(0, equals);
    return {path, parse_positive(std::string_view(text).substr(equals + 1), "--set " + path)};
}

/// A what-if value that no prediction uses would silently change nothing.
void check_used(const WhatIf& setting, const MachineSpec& machine) {
    const std::vector<std::string>& used = machine.inputs;
    if (std::find(used.begin(), used.end(), setting.path) != used.end()) return;
    throw InputError(fmt::format("--set: {} changes nothing for {}: its predictions use {}{}",
                                 setting.path, machine.id, fmt::join(used, ", "),
                                 did_you_mean(setting.path, used)));
}

void set_layers(ModelSpec& model, const std::string& text) {
    const double layers = parse_positive(text, "--layers");
    if (layers != static_cast<double>(static_cast<std::int64_t>(layers)))
        throw InputError(fmt::format("--layers is {}, expected a whole number", text));
    truncate_layers(model, static_cast<std::int64_t>(layers));
}

/// A table of fewer tokens would lose some.
void set_vocabulary(ModelSpec& model, const std::string& text) {
    constexpr double kMost = 10'000'000;
    const double tokens = parse_positive(text, "--resize-vocabulary");
    if (tokens != std::floor(tokens) || tokens < static_cast<double>(model.vocabulary) ||
        tokens > kMost)
        throw InputError(fmt::format(
            "--resize-vocabulary is {}, expected a whole number from {}, the tokens of {}, to "
            "{:.0f}",
            text, model.vocabulary, model.name, kMost));
    model.vocabulary = static_cast<std::int64_t>(tokens);
}

void set_host_memory(MachineProfile& profile, const std::string& text) {
    const double bytes = parse_memory_size(text, "--host-memory");
    if (bytes < kGiga)
        throw InputError(fmt::format(
            "--host-memory is {}, less than 1 GB; give a size with its unit, as in 1.5TB", text));
    profile.set("host.memory_capacity_gb", bytes / kGiga);
    profile.changes.push_back("--host-memory " + text);
    // A size in its name is that of no machine any longer.
    const std::vector<std::string> library = library_machines();
    const std::string without = without_host_memory(profile.id);
    if (!std::ranges::count(library, profile.id) && std::ranges::count(library, without) > 0)
        profile.id = without;
}

}  // namespace

bool ask_the_same(const PlannedScenario& a, const PlannedScenario& b) {
    const auto asked = [](const PlannedScenario& one) {
        return std::tie(one.model, one.machine, one.training, one.money);
    };
    return asked(a) == asked(b);
}

ModelSpec read_model(const PlannedModel& planned) {
    return in_field("model", [&] {
        if (planned.model.empty())
            throw InputError("--model is required; name one of: sluice models");
        ModelSpec model = read_model(planned.model);
        if (planned.untied) model.tied_embeddings = false;
        if (planned.vocabulary)
            in_field("vocabulary", [&] { set_vocabulary(model, *planned.vocabulary); });
        if (planned.layers) in_field("layers", [&] { set_layers(model, *planned.layers); });
        return model;
    });
}

ProfiledMachine read_machine(const PlannedMachine& planned) {
    return in_field("machine", [&] {
        if (planned.machine.empty())
            throw InputError("--machine is required; name one of: sluice machines");
        MachineProfile profile = read_machine_profile(planned.machine);
        if (planned.host_memory)
            in_field("host_memory", [&] { set_host_memory(profile, *planned.host_memory); });
        std::vector<WhatIf> settings;
        for (const std::string& text : planned.settings) {
            settings.push_back(in_field("settings", [&] { return parse_what_if(text); }));
            profile.set(settings.back().path, settings.back().value);
            profile.changes.push_back("--set " + text);
        }
        MachineSpec spec = resolve_machine(profile);
        for (const WhatIf& setting : settings)
            in_field("settings", [&] { check_used(setting, spec); });
        return ProfiledMachine{std::move(profile), std::move(spec)};
    });
}

TrainingSpec training_values(const PlannedScenario& planned) {
    TrainingSpec training;
    for (const Option& option : training_options()) {
        const auto given = planned.training.find(option.field);
        if (given == planned.training.end()) continue;
        in_field(option.field,
                 [&] { set_option(training, option, given->second, option_flag(option)); });
    }
    return training;
}

TrainingSpec read_training(const PlannedScenario& planned) {
    const TrainingSpec training = training_values(planned);
    in_field("schedule", [&] { check_training_spec(training); });
    return training;
}

CostQuery read_money(const PlannedScenario& planned) {
    CostQuery query;
    for (const MoneyOption& option : money_options()) {
        const auto given = planned.money.find(option.field);
        if (given == planned.money.end()) continue;
        in_field(option.field,
                 [&] { set_money(query, option, given->second, money_flag(option)); });
    }
    in_field("offer", [&] { check_money(query); });
    return query;
}

Scenario resolve(const PlannedScenario& planned) {
    Scenario out;
    out.model = read_model(planned.model);
    ProfiledMachine machine = read_machine(planned.machine);
    out.profile = std::move(machine.profile);
    out.machine = std::move(machine.spec);
    out.training = read_training(planned);
    in_field("schedule", [&] { check_effects(out.model, out.training); });
    out.money = read_money(planned);
    return out;
}

std::string shell_quoted(const std::string& word) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
    std::string out = "'";
    for (const char letter : word) letter == '\'' ? out += "'\\''" : out += letter;
    return out + "'";
}

std::string scenario_flags(const PlannedScenario& planned) {
    std::string out;
    const auto add = [&out](const std::string& flag, const std::string& value) {
        out += " " + flag + " " + shell_quoted(value);
    };
    add("--model", planned.model.model);
    if (planned.model.layers) add("--layers", *planned.model.layers);
    if (planned.model.untied) out += " --untied";
    if (planned.model.vocabulary) add("--resize-vocabulary", *planned.model.vocabulary);
    if (!planned.machine.machine.empty()) add("--machine", planned.machine.machine);
    if (planned.machine.host_memory) add("--host-memory", *planned.machine.host_memory);
    for (const std::string& setting : planned.machine.settings) add("--set", setting);
    for (const Option& option : training_options())
        if (const auto given = planned.training.find(option.field); given != planned.training.end())
            add(option_flag(option), given->second);
    return out;
}

std::string money_flags(const PlannedScenario& planned) {
    std::string out;
    for (const MoneyOption& option : money_options()) {
        const auto given = planned.money.find(option.field);
        if (given == planned.money.end()) continue;
        out += " " + money_flag(option) + " " + shell_quoted(given->second);
    }
    return out;
}

std::string command_line(const PlannedScenario& planned, const std::string& command) {
    PlannedScenario told = planned;
    const auto is_taken = [&](const auto& one) {
        return one.first == "quotes" || (command == "predict" && one.first == "ownership" &&
                                         one.second == ownership_name(Ownership::own));
    };
    if (command != "cost")
        std::erase_if(told.money, [&](const auto& one) { return !is_taken(one); });
    return (command == "predict" ? "./dev predict" : "./dev run sluice " + command) +
           scenario_flags(told) + " --plan given" + money_flags(told);
}

}  // namespace sluice

#include "sim/command_line/scenario.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/specs/scenario/project_file.h"

namespace sluice {
namespace {

void complete(const CLI::App& command, ScenarioFlags& flags, const PlannedScenario* planned) {
    if (planned != nullptr) {
        flags.planned = *planned;
        take_model(*planned, flags.model);
        MachineFlags& machine = flags.machine;
        if (machine.machine.empty()) machine.machine = planned->machine.machine;
        std::vector<std::string> machines = {machine.machine};
        take_machine(*planned, machines, machine.host_memory, machine.settings);
        take_training(*planned, flags.training.option_values);
    }
    if (!flags.complete) return;
    require_flag(command, "--model", !flags.model.model.empty());
    require_flag(command, "--machine", !flags.machine.machine.empty());
}

}  // namespace

void take_model(const PlannedScenario& planned, ModelFlags& flags) {
    if (flags.model.empty()) flags.model = planned.model.model;
    if (!flags.layers) flags.layers = planned.model.layers;
    flags.untied = flags.untied || planned.model.untied;
}

void take_training(const PlannedScenario& planned,
                   std::vector<std::optional<std::string>>& option_values) {
    for (std::size_t i = 0; i < training_options().size(); ++i) {
        const auto given = planned.training.find(training_options()[i].field);
        if (!option_values[i] && given != planned.training.end()) option_values[i] = given->second;
    }
}

void take_machine(const PlannedScenario& planned, std::vector<std::string>& machines,
                  std::optional<std::string>& host_memory, std::vector<std::string>& settings) {
    if (machines.empty() && !planned.machine.machine.empty()) machines = {planned.machine.machine};
    if (!host_memory) host_memory = planned.machine.host_memory;
    // Later ones replace earlier ones.
    settings.insert(settings.begin(), planned.machine.settings.begin(),
                    planned.machine.settings.end());
}

void require_flag(const CLI::App& command, const char* flag, bool named) {
    if (!named)
        throw InputError(
            fmt::format("{} is required; see sluice {} --help", flag, command.get_name()));
}

void add_scenario_flag(CLI::App& command, std::optional<std::string>& file,
                       std::function<void(const PlannedScenario*)> complete) {
    command.add_option("--scenario", file,
                       "FILE or FILE:NAME, a scenario of a project that the planner saved; flags "
                       "override it");
    command.parse_complete_callback([&file, complete = std::move(complete)] {
        if (!file) return complete(nullptr);
        const PlannedScenario planned = read_planned_scenario(*file);
        complete(&planned);
    });
}

void add_model_flags(CLI::App& command, ModelFlags& flags) {
    command
        .add_option("--model", flags.model,
                    "a name of `sluice models`, dense:layers=80,hidden=8192,..., or a path to a "
                    "config.json")
        ->required();
    command.add_option("--layers", flags.layers, "only the first N layers of the model");
    command.add_flag("--untied", flags.untied,
                     "add a separate output projection to a model that ties it to the embedding");
}

void add_training_flags(CLI::App& command, TrainingFlags& flags) {
    command.add_option("--training", flags.file,
                       "a JSON file of the options below; flags override it");
    flags.option_values.resize(training_options().size());
    for (std::size_t i = 0; i < training_options().size(); ++i) {
        const Option& option = training_options()[i];
        command.add_option(option_flag(option), flags.option_values[i], option_help(option))
            ->group("Training");
    }
}

TrainingSpec training_values(const TrainingFlags& flags) {
    TrainingSpec training;
    if (flags.file) training = parse_training_spec(read_text_file(*flags.file), *flags.file);
    for (std::size_t i = 0; i < training_options().size(); ++i) {
        const Option& option = training_options()[i];
        if (flags.option_values[i])
            set_option(training, option, *flags.option_values[i], option_flag(option));
    }
    return training;
}

TrainingSpec read_training_flags(const TrainingFlags& flags) {
    const TrainingSpec training = training_values(flags);
    check_training_spec(training);
    return training;
}

void add_machine_flags(CLI::App& command, MachineFlags& flags) {
    command
        .add_option("--machine", flags.machine,
                    "a name of `sluice machines`, optionally with a host memory size "
                    "(h200-sxm-pcie5-1.5tb), or a path to a profile")
        ->required();
    command.add_option("--host-memory", flags.host_memory,
                       "host memory of the machine, as 1.5TB or 128GiB");
    command.add_option(
        "--set", flags.settings,
        "another value for a number of the machine: PATH=NUMBER (see `sluice machines show`)");
}

void add_scenario_flags(CLI::App& command, ScenarioFlags& flags) {
    add_scenario_flag(command, flags.file, [&command, &flags](const PlannedScenario* planned) {
        complete(command, flags, planned);
    });
    add_model_flags(command, flags.model);
    add_machine_flags(command, flags.machine);
    add_training_flags(command, flags.training);
    command.get_option("--model")->required(false);
    command.get_option("--machine")->required(false);
}

Scenario read_scenario(const ScenarioFlags& flags) {
    Scenario scenario;
    scenario.model = read_model_flags(flags.model);
    scenario.profile = read_profile_flags(flags.machine);
    scenario.machine = resolve_machine_flags(scenario.profile, flags.machine);
    scenario.training = read_training_flags(flags.training);
    return scenario;
}

}  // namespace sluice

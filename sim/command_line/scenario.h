// Which model, machine, settings and prices does a command line name? All programs fill the same
// PlannedScenario as the planner's form.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/base/write_file.h"
#include "sim/specs/scenario/scenario.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sluice {

/// The flags as typed. It must live as long as the command.
struct ScenarioFlags {
    std::optional<std::string> scenario_file;  ///< --scenario: from a project
    std::optional<std::string> training_file;  ///< --training
    PlannedScenario given;                     ///< by the other flags
    std::set<std::string> money_fields;        ///< of money for which the command has flags
};

/// --scenario and the flags of model, machine and training.
void add_scenario_flags(CLI::App& command, ScenarioFlags& flags);

// Groups of these flags, for commands that take several machines or lists of settings.
void add_scenario_flag(CLI::App& command, ScenarioFlags& flags);
void add_model_flags(CLI::App& command, PlannedModel& given);
/// The option's texts become names of models, as model_of() takes them. After success,
/// standard error says in one line which model was taken for a text that is not its name.
CLI::Option* take_models(CLI::Option* option);
void add_machine_flags(CLI::App& command, PlannedMachine& given);
/// --training and a flag for every option.
void add_training_flags(CLI::App& command, ScenarioFlags& flags);
/// `note` takes the place of range and default: "; a list".
void add_option_flags(CLI::App& command, std::map<std::string, std::string>& given,
                      const std::string& note = "");

void add_money_flags(CLI::App& command, ScenarioFlags& flags);
/// Adds --quotes, no other flag of money, for commands that choose plans and do not tell costs.
void add_quotes_flag(CLI::App& command, ScenarioFlags& flags);
/// Adds --ownership for a command that shows a rent unless the machine is owned.
void add_owned_flag(CLI::App& command, ScenarioFlags& flags);

/// The scenario of --scenario; empty without the flag, and of money with what the command
/// takes. Throws InputError, like all readers here.
PlannedScenario base_scenario(const ScenarioFlags& flags);
/// `base`, changed by --training and then by the other flags.
PlannedScenario with_flags(PlannedScenario base, const ScenarioFlags& flags);
/// The whole command line as a scenario.
PlannedScenario asked_scenario(const ScenarioFlags& flags);
/// The files that the scenario is read from, among names of the library and empty ones.
std::vector<std::string> input_files(const ScenarioFlags& flags);

}  // namespace sluice

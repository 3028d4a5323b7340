// Which model, machine, settings and prices does a command line name? All programs fill the same
// PlannedScenario as the planner's form.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "sim/base/write_file.h"
#include "sim/specs/scenario/scenario.h"

namespace CLI {
class App;
}

namespace sluice {

/// What flags say, as typed. It must live as long as the command.
struct ScenarioFlags {
    std::optional<std::string> scenario_file;  ///< --scenario: of a project
    std::optional<std::string> training_file;  ///< --training
    PlannedScenario given;                     ///< by the other flags
    bool takes_money = false;                  ///< the command has the flags of money
};

/// --scenario and the flags of model, machine and training.
void add_scenario_flags(CLI::App& command, ScenarioFlags& flags);

// The parts of these, for commands that take several machines or lists of settings.
void add_scenario_flag(CLI::App& command, ScenarioFlags& flags);
void add_model_flags(CLI::App& command, PlannedModel& given);
void add_machine_flags(CLI::App& command, PlannedMachine& given);
/// --training and a flag for every option.
void add_training_flags(CLI::App& command, ScenarioFlags& flags);
void add_option_flags(CLI::App& command, std::map<std::string, std::string>& given,
                      const std::function<std::string(const Option&)>& help = option_help);

void add_money_flags(CLI::App& command, ScenarioFlags& flags);

/// What --scenario names; empty without it, and without money where the command takes none. Throws
/// InputError, as all readers here.
PlannedScenario base_scenario(const ScenarioFlags& flags);
/// `base` with what --training and then the other flags say.
PlannedScenario with_flags(PlannedScenario base, const ScenarioFlags& flags);
/// All that the command line says.
PlannedScenario asked_scenario(const ScenarioFlags& flags);

}  // namespace sluice

// Which model, machine and settings does a command line name?
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/write_file.h"
#include "sim/specs/scenario/planned_scenario.h"
#include "sim/specs/scenario/scenario.h"
#include "sim/specs/scenario/training_spec.h"

namespace CLI {
class App;
}

namespace sluice {

void add_model_flags(CLI::App& command, ModelFlags& flags);

/// How a step is done: every training option is a flag.
struct TrainingFlags {
    std::optional<std::string> file;
    std::vector<std::optional<std::string>> option_values;  ///< one a training option
};
void add_training_flags(CLI::App& command, TrainingFlags& flags);
TrainingSpec read_training_flags(const TrainingFlags& flags);
/// The same before the rules between options are checked.
TrainingSpec training_values(const TrainingFlags& flags);

void add_machine_flags(CLI::App& command, MachineFlags& flags);

/// Which model, machine and settings: the flags that predict and explain share.
struct ScenarioFlags {
    std::optional<std::string> file;  ///< --scenario: a project's
    ModelFlags model;
    TrainingFlags training;
    MachineFlags machine;
    bool complete = true;  ///< a model and a machine must be named
    /// What --scenario named; once parsed, what flags do not say is taken from it.
    std::optional<PlannedScenario> planned;
};

/// `flags` must live as long as the command.
void add_scenario_flags(CLI::App& command, ScenarioFlags& flags);

/// --scenario of a command that takes several models or machines: once it is parsed, `complete`
/// gets what it named, or null. `file` must live as long as the command.
void add_scenario_flag(CLI::App& command, std::optional<std::string>& file,
                       std::function<void(const PlannedScenario*)> complete);
/// What flags do not say is taken from the scenario: of the model, of training options (by
/// training_options()), and of the machine. Machines named by flags replace the scenario's.
void take_model(const PlannedScenario& planned, ModelFlags& flags);
void take_training(const PlannedScenario& planned,
                   std::vector<std::optional<std::string>>& option_values);
void take_machine(const PlannedScenario& planned, std::vector<std::string>& machines,
                  std::optional<std::string>& host_memory, std::vector<std::string>& settings);
/// Throws InputError where `named` is false.
void require_flag(const CLI::App& command, const char* flag, bool named);
/// Money is left as it is by default.
Scenario read_scenario(const ScenarioFlags& flags);

}  // namespace sluice

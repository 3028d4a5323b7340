// The subcommands: each adds itself to the program and stands in a file of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/machine/machine_spec.h"
#include "sim/model/model_spec.h"
#include "sim/plan/training_spec.h"

namespace CLI {
class App;
}

namespace sluice {

/// What a subcommand runs once the command line is parsed; returns the exit status.
using Command = std::function<int()>;

void add_predict(CLI::App& app, Command& chosen);
void add_explain(CLI::App& app, Command& chosen);
void add_models(CLI::App& app, Command& chosen);
void add_machines(CLI::App& app, Command& chosen);

/// Which model, machine and settings: the flags that predict and explain share.
struct ScenarioFlags {
    std::string model;
    std::string machine;
    std::optional<std::string> host_memory;
    std::optional<std::string> training_file;
    std::vector<std::string> settings;  ///< --set path=value
    std::optional<std::string> layers;
    bool untied = false;
    std::vector<std::optional<std::string>> option_values;  ///< one a training option
};

struct Scenario {
    ModelSpec model;
    MachineSpec machine;
    TrainingSpec training;
    std::vector<std::string> machine_changes;  ///< what-if values, as flags
};

/// Declares the flags; every training option becomes one.
void add_scenario_flags(CLI::App& command, ScenarioFlags& flags);
/// Reads what the flags name. Throws InputError.
Scenario read_scenario(const ScenarioFlags& flags);

/// Writes a file whole or not at all (a temporary beside it, renamed). Throws InputError where that
/// fails.
void write_file(const std::string& path, const std::string& text);

}  // namespace sluice

// Which model, machine and settings does a command line name?
#pragma once

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

/// Which model.
struct ModelFlags {
    std::string model;
    std::optional<std::string> layers;
    bool untied = false;
};
void add_model_flags(CLI::App& command, ModelFlags& flags);
/// Throws InputError, as all readers here.
ModelSpec read_model_flags(const ModelFlags& flags);

/// How a step is done: every training option is a flag.
struct TrainingFlags {
    std::optional<std::string> file;
    std::vector<std::optional<std::string>> option_values;  ///< one a training option
};
void add_training_flags(CLI::App& command, TrainingFlags& flags);
TrainingSpec read_training_flags(const TrainingFlags& flags);
/// The same before the rules between options are checked.
TrainingSpec training_values(const TrainingFlags& flags);

/// Which machine, with what-if values.
struct MachineFlags {
    std::string machine;
    std::optional<std::string> host_memory;
    std::vector<std::string> settings;  ///< --set path=value
};
void add_machine_flags(CLI::App& command, MachineFlags& flags);
/// Its profile with what-if values; `changes` gets them, as flags.
MachineProfile read_profile_flags(const MachineFlags& flags, std::vector<std::string>& changes);
/// Refuses a what-if value on which no prediction for that machine rests.
MachineSpec resolve_machine_flags(const MachineProfile& profile, const MachineFlags& flags);
/// Both.
MachineSpec read_machine_flags(const MachineFlags& flags, std::vector<std::string>& changes);

/// Which model, machine and settings: the flags that predict and explain share.
struct ScenarioFlags {
    ModelFlags model;
    TrainingFlags training;
    MachineFlags machine;
};

struct Scenario {
    ModelSpec model;
    MachineSpec machine;
    TrainingSpec training;
    std::vector<std::string> machine_changes;  ///< what-if values, as flags
};

void add_scenario_flags(CLI::App& command, ScenarioFlags& flags);
Scenario read_scenario(const ScenarioFlags& flags);

/// Writes a file whole or not at all (a temporary beside it, renamed). Throws InputError where that
/// fails.
void write_file(const std::string& path, const std::string& text);

}  // namespace sluice

// Which question is asked: which model on which machine with which settings, as typed? To which
// specs does it resolve? Flags, forms and project files fill the same PlannedScenario.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/input_error.h"
#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/money_options.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

struct PlannedModel {
    std::string model;  ///< a name of the library, dense:..., or a path to a config.json
    std::optional<std::string> layers;
    bool untied = false;
    std::optional<std::string> vocabulary = {};  ///< tokens, at least those of the model
    bool operator==(const PlannedModel&) const = default;
};

struct PlannedMachine {
    std::string machine;  ///< a name of the library, or a path to a profile
    std::optional<std::string> host_memory;
    std::vector<std::string> settings;  ///< path=value
    bool operator==(const PlannedMachine&) const = default;
};

/// As typed, possibly with mistakes, which resolve() reports.
struct PlannedScenario {
    std::string name, notes;
    PlannedModel model;
    PlannedMachine machine;
    std::map<std::string, std::string> training;  ///< by field of training_options()
    std::map<std::string, std::string> money;     ///< by field of money_options()

    bool operator==(const PlannedScenario&) const = default;
};
/// Whether they are equal except for names and notes, which predictions do not depend on.
bool ask_the_same(const PlannedScenario& a, const PlannedScenario& b);

struct Scenario {
    ModelSpec model;
    MachineProfile profile;
    MachineSpec machine;
    TrainingSpec training;
    CostQuery money;
};

/// Reads the model and the machine and checks all values. Throws InputError with its field.
Scenario resolve(const PlannedScenario& planned);

/// A machine that can be predicted: its profile with what-if values, and the resolved spec.
struct ProfiledMachine {
    MachineProfile profile;
    MachineSpec spec;
};

// The steps of resolve(), with its errors.
ModelSpec read_model(const PlannedModel& planned);
/// Refuses a what-if value that no prediction for that machine uses.
ProfiledMachine read_machine(const PlannedMachine& planned);
TrainingSpec read_training(const PlannedScenario& planned);
/// The same before the rules between options are checked.
TrainingSpec training_values(const PlannedScenario& planned);
CostQuery read_money(const PlannedScenario& planned);

/// The word as a shell takes it.
std::string shell_quoted(const std::string& word);
/// " --model ... --machine ... --batch 32", quoted for a shell: all but money.
std::string scenario_flags(const PlannedScenario& planned);
/// " --tokens 5e9 --quotes bids.csv", quoted for a shell.
std::string money_flags(const PlannedScenario& planned);
/// "./dev predict --model ... --batch 32", quoted for a shell. `command` may be another command
/// that takes a scenario's flags and --plan. Its one money flag is --quotes, unless it is "cost";
/// "predict" also has --ownership own.
std::string command_line(const PlannedScenario& planned, const std::string& command = "predict");

}  // namespace sluice

// What did somebody plan: which model on which machine with which settings, as typed? And what
// does it resolve to?
#pragma once

#include <map>
#include <string>

#include "sim/base/input_error.h"
#include "sim/specs/scenario/money_options.h"
#include "sim/specs/scenario/scenario.h"

namespace sluice {

/// As typed: it may hold mistakes, which resolve() names.
struct PlannedScenario {
    std::string name, notes;
    ModelFlags model;
    MachineFlags machine;
    std::map<std::string, std::string> training;  ///< by field of training_options()
    std::map<std::string, std::string> money;     ///< by field of money_options()

    bool operator==(const PlannedScenario&) const = default;
};
/// Whether they are equal but for names and notes, which no prediction depends on.
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

/// "./dev predict --model ... --batch 32", quoted for a shell. `command` may be another that takes
/// the flags of a scenario; money only where it takes money ("cost").
std::string command_line(const PlannedScenario& planned, const std::string& command = "predict");

}  // namespace sluice

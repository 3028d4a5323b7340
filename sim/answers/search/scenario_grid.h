// Which scenarios does a search go through? Every combination of models, machines and settings.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/input_error.h"
#include "sim/specs/scenario/scenario.h"

namespace sluice {

/// An option and the values it takes, each once.
struct OptionAxis {
    const Option* option = nullptr;
    std::vector<double> values;
};

/// One scenario of a grid.
struct GridPoint {
    const ModelSpec* model = nullptr;
    const MachineSpec* machine = nullptr;
    TrainingSpec training;
    std::optional<InputError> against_rule;  ///< why the search leaves it out
};

/// All combinations, counted from 0: models change slowest, then machines, then questions and
/// choices in their order, in which they are set, too. Scenarios that differ only in `choices`
/// answer the same question and are compared with each other; they are one group and stand next to
/// each other.
struct ScenarioGrid {
    std::vector<ModelSpec> models;
    std::vector<MachineSpec> machines;
    TrainingSpec base;                  ///< of the options that have no axis
    std::vector<OptionAxis> questions;  ///< axes that tell groups apart: schedule, sequence
    std::vector<OptionAxis> choices;
    /// Why a combination is left out, in addition to what plan_step() refuses.
    std::function<std::optional<InputError>(const TrainingSpec&)> rule;

    /// Throws InputError where there are more than kMostScenarios.
    std::size_t size() const;
    std::size_t group_size() const;  ///< scenarios of a group
    std::size_t groups() const { return size() / group_size(); }
    /// Precondition: index < size().
    GridPoint at(std::size_t index) const;
};

inline constexpr std::size_t kMostScenarios = 20'000'000;

/// An option's axis from "8,16,32", as flags give it; `where` is the name in messages. Throws
/// InputError where a value is wrong or there twice.
OptionAxis parse_axis(const Option& option, const std::string& values, const std::string& where);

/// As typed.
struct SweepSpec {
    std::vector<std::string> models, machines;
    /// For each of them; layers, host memory and options are lists: "8,16,32".
    PlannedScenario lists;
    std::map<std::string, std::string>
        where;  ///< of an option's field: file and key; else its flag
};

/// Reads {"models": [...], "machines": [...], "layers": [...], "host_memory": [...], "set": [...],
/// "batch": [8, 16], "recompute": "full", ...}; an option is a value or a list. Throws InputError.
SweepSpec parse_sweep_spec(std::string_view text, const std::string& file);

/// The grid of all combinations; an option with one value is the base's. Throws InputError.
ScenarioGrid grid_of(const SweepSpec& spec);

}  // namespace sluice

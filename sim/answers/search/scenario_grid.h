// Which scenarios does a search consider? Every combination of models, machines and settings.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/input_error.h"
#include "sim/specs/scenario/scenario.h"

namespace sluice {

/// An option and its values, each once.
struct OptionAxis {
    const Option* option = nullptr;
    std::vector<double> values;
};

struct GridPoint {
    const ModelSpec* model = nullptr;
    const MachineSpec* machine = nullptr;
    TrainingSpec training;
    std::optional<InputError> against_rule;  ///< reason why the search leaves it out
};

/// All combinations, counted from 0: models change slowest, then machines, then questions and
/// choices in their order, which is also the order of setting them. Scenarios that differ only in
/// `choices` answer the same question and are compared with each other: they are consecutive and
/// form a group.
struct ScenarioGrid {
    std::vector<ModelSpec> models;
    std::vector<MachineSpec> machines;
    TrainingSpec base;                  ///< for options without an axis
    std::vector<OptionAxis> questions;  ///< axes that distinguish groups: schedule, sequence
    std::vector<OptionAxis> choices;
    /// Why a combination is left out, in addition to the rules of plan_step().
    std::function<std::optional<InputError>(const TrainingSpec&)> rule;

    /// Throws InputError if there are more than kMostScenarios.
    std::size_t size() const;
    std::size_t group_size() const;  ///< scenarios per group
    std::size_t groups() const { return size() / group_size(); }
    /// Precondition: index < size().
    GridPoint at(std::size_t index) const;
};

inline constexpr std::size_t kMostScenarios = 20'000'000;

/// An option's axis from "8,16,32", as flags give it; `where` is the name in messages. Throws
/// InputError if a value is wrong or given twice.
OptionAxis parse_axis(const Option& option, const std::string& values, const std::string& where);

/// As typed.
struct SweepSpec {
    std::vector<std::string> models, machines;
    /// For each combination; layers, host memory and options are lists: "8,16,32".
    PlannedScenario lists;
    /// Origin of an option, by its field: file and key; else its flag.
    std::map<std::string, std::string> where;
};

/// Reads {"models": [...], "machines": [...], "layers": [...], "host_memory": [...], "set": [...],
/// "batch": [8, 16], "recompute": "full", ...}; an option is a value or a list. Throws InputError.
SweepSpec parse_sweep_spec(std::string_view text, const std::string& file);

/// The grid of all combinations; options with one value belong to the base. Throws InputError.
ScenarioGrid grid_of(const SweepSpec& spec);

}  // namespace sluice

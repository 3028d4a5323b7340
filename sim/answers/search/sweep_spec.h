// What is swept? Lists of models, machines and settings, from a JSON file or flags.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/answers/search/scenario_grid.h"

namespace sluice {

/// As given, in words. Lists of options are as flags give them: "8,16,32".
struct SweepSpec {
    std::vector<std::string> models;
    std::optional<std::string> layers;  ///< "28,48": each model with only its first layers
    bool untied = false;                ///< each with an output projection of its own
    std::vector<std::string> machines;
    std::optional<std::string> host_memory;      ///< "512GB,1TB": each machine with so much
    std::vector<std::string> settings;           ///< PATH=NUMBER, for all machines
    std::map<std::string, std::string> options;  ///< by field
    std::map<std::string, std::string>
        where;  ///< of an option's field: file and key; else its flag
};

/// Reads {"models": [...], "machines": [...], "layers": [...], "host_memory": [...], "set": [...],
/// "batch": [8, 16], "recompute": "full", ...}; an option is a value or a list. Throws InputError.
SweepSpec parse_sweep_spec(std::string_view text, const std::string& file);

/// The axes and the base of a grid: an option with one value is the base's. Models and machines
/// are left empty. Throws InputError.
ScenarioGrid grid_of_options(const SweepSpec& spec);

}  // namespace sluice

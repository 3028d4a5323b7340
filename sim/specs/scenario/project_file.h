// Which scenarios does a project file hold? The planner saves it, `sluice predict --scenario` reads
// it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/specs/scenario/scenario.h"

namespace sluice {

/// A question of the window's start page, as typed, and its answer: the ways that were found.
struct AskedRun {
    std::map<std::string, std::string> fields;  ///< by asked_run_fields()
    std::vector<PlannedScenario> ways;

    bool operator==(const AskedRun&) const = default;
};
/// "model", "task", "tokens", "seq", "days", "budget_usd", "owned", "owned_gpus", "owned_memory".
const std::vector<std::string>& asked_run_fields();

struct Project {
    std::vector<PlannedScenario> scenarios;  ///< never empty after reading
    std::size_t current = 0;
    std::optional<AskedRun> asked_run = std::nullopt;

    bool operator==(const Project&) const = default;
};

/// {"format": "sluice project", "version": 1, "scenarios": [...], "current": 0}, or an HTML page
/// that holds it as project_element(). Version 2 also has "asked_run". Values are kept as typed,
/// with their mistakes. Unknown keys, tasks and versions give an InputError with file, field and
/// value.
Project parse_project(std::string_view text, const std::string& file);
std::string project_json(const Project& project);
/// A part of an HTML page that no reader sees.
std::string project_element(const Project& project);
/// Whether the text is a page, which a project must not be saved over.
bool is_page(std::string_view text);

/// The current scenario of `FILE`, or the named one of `FILE:NAME`. Throws InputError.
PlannedScenario read_planned_scenario(const std::string& file_and_name);

}  // namespace sluice

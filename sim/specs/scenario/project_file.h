// Which scenarios does a project file hold? The planner saves it, `sluice predict --scenario` reads
// it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/specs/scenario/scenario.h"

namespace sluice {

struct Project {
    std::vector<PlannedScenario> scenarios;  ///< never empty after reading
    std::size_t current = 0;

    bool operator==(const Project&) const = default;
};

/// {"format": "sluice project", "version": 1, "scenarios": [...], "current": 0}, or an HTML page
/// that holds it as project_element(). Values are kept as typed, with their mistakes. Unknown keys
/// and other versions give an InputError with file, field and value.
Project parse_project(std::string_view text, const std::string& file);
std::string project_json(const Project& project);
/// A part of an HTML page that no reader sees.
std::string project_element(const Project& project);
/// Whether the text is a page, which a project must not be saved over.
bool is_page(std::string_view text);

/// The current scenario of `FILE`, or the named one of `FILE:NAME`. Throws InputError.
PlannedScenario read_planned_scenario(const std::string& file_and_name);

}  // namespace sluice

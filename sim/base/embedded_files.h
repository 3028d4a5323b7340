// Which machines, models, records of earlier errors and pages of help are built into sluice?
#pragma once

#include <span>
#include <string_view>

namespace sluice {

struct EmbeddedFile {
    std::string_view name;  // the file's name without folder and ending: "h200"
    std::string_view text;  // the whole file
};

std::span<const EmbeddedFile> embedded_machines();  // hwprofiles/*.json, sorted by name
std::span<const EmbeddedFile> embedded_models();    // models/*.json, sorted by name
std::span<const EmbeddedFile> embedded_history();   // validation/history.json
std::span<const EmbeddedFile> embedded_help();      // docs/tour.md, docs/glossary.md: the planner

}  // namespace sluice

// Which flags has the command line of sluice-train?
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/train/run_defaults.h"
#include "engine/train/run_settings.h"
#include "sim/command_line/scenario.h"

namespace sluice {

/// The flags as typed. It must live as long as the command line's parser.
struct TrainFlags {
    ScenarioFlags scenario;
    TrainSettings settings;
    GivenSettings given;  ///< which the settings do not have yet
    std::vector<std::string> validation;
    std::optional<std::string> save_memory, plan, report, trace, timeline;
};

/// --data, --out, --plan and others that say what a run reads and writes.
void add_run_flags(CLI::App& app, TrainFlags& flags);
void add_optimizer_flags(CLI::App& app, TrainFlags& flags);

/// Values of --plan that name no file.
inline constexpr std::string_view kAuto = "auto", kGiven = "given";
constexpr bool names_no_file(std::string_view plan) { return plan == kAuto || plan == kGiven; }

/// Throws InputError if a file to write is an input or cannot be written.
void check_files(const TrainFlags& flags);

}  // namespace sluice

// Which flags do several subcommands share, how is a subcommand added, where does its answer go?
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/output_files.h"
#include "sim/command_line/program.h"
#include "sim/command_line/scenario.h"
#include "sim/specs/machine/machine_profile.h"

namespace sluice {

/// Adds a subcommand; `chosen` becomes `run` with its flags once the command line names it. The
/// flags live as long as the program.
template <typename Flags>
std::pair<CLI::App*, Flags*> add_command(CLI::App& app, Command& chosen, const char* name,
                                         const char* description, int (*run)(const Flags&)) {
    CLI::App* const command = app.add_subcommand(name, description);
    const auto flags = std::make_shared<Flags>();
    command->callback([&chosen, flags, run] { chosen = [flags, run] { return run(*flags); }; });
    return {command, flags.get()};
}

void add_json_flag(CLI::App& command, bool& json);

/// --plan of a command whose plan is the fastest one without the flag.
struct PlanFlag {
    std::optional<bool> chosen;  ///< auto or users, not given
    bool as_users_run = false;   ///< users
    /// A scenario of the planner's window is predicted as the window shows it.
    bool chooses(const ScenarioFlags& flags) const { return chosen.value_or(!flags.scenario_file); }
};
/// `of_other_systems`: the command shows these, so that "users" has a meaning.
void add_plan_flag(CLI::App& command, PlanFlag& flag, bool of_other_systems = false);

void add_planned_too_flag(CLI::App& command, bool& planned_too);
void add_workers_flag(CLI::App& command, int& workers);

/// Throws InputError where standard output would get two formats, and as check_output_files().
void check_outputs(bool json, bool csv, const std::vector<OutputFlag>& files,
                   const std::vector<std::string>& inputs);

/// Writes to standard output; returns the exit status of success.
int print(const std::string& text);

/// Processes of a search: as many as asked, 0 for all processors. Throws InputError beyond 4096.
int processes_of(int workers);

struct ClusterFlag {
    MachineProfile profile;
    std::int64_t gpus = 1;
};
/// Reads `--cluster h100-sxm-pcie5:8`. Throws InputError where it is not MACHINE:GPUS.
ClusterFlag read_cluster_flag(const std::string& text);

/// Dollars an hour by name, from NAME=DOLLARS of --price. Throws InputError where a text is not
/// that, or its name is none of `names` or is given twice. Precondition: `names` is not empty.
std::map<std::string, double> read_prices(const std::vector<std::string>& prices,
                                          const std::vector<std::string>& names);

}  // namespace sluice

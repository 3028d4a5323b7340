#include "sim/cli/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/command_line/help.h"
#include "sim/simulate/simulation_service.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

void add_json_flag(CLI::App& command, bool& json) {
    command.add_flag("--json", json, "everything as JSON; keys carry units")->group("Output");
}

void add_plan_flag(CLI::App& command, PlanFlag& flag, bool of_other_systems) {
    const auto read = [&flag, of_other_systems](const std::string& text) {
        flag.as_users_run = of_other_systems && text == "users";
        if (text != "given" && text != "auto" && !flag.as_users_run)
            throw InputError(fmt::format("--plan is \"{}\", expected given{} or auto", text,
                                         of_other_systems ? ", users" : ""));
        flag.chosen = text != "given";
    };
    command.add_option_function<std::string>("--plan", read)
        ->description(described(
            fmt::format("options that no flag gives: the fastest, {}or the defaults [auto]",
                        of_other_systems ? "as users run it, " : ""),
            fmt::format(
                "auto (default): chooses the recomputation, micro-batches and places of tensors of "
                "the system's fastest step, unless flags give them; {}given{}: uses the defaults",
                of_other_systems ? "users: as the users of that system run it, by its own defaults "
                                   "and examples; "
                                 : "",
                flag.chosen ? "" : " (default with --scenario)")))
        ->type_name(of_other_systems ? "{auto,users,given}" : "{auto,given}");
}

void add_planned_too_flag(CLI::App& command, bool& planned_too) {
    command.add_flag("--planned-too", planned_too,
                     described("count systems with which no program trains today",
                               "count systems that can be planned but that no program trains with "
                               "today; without it they are shown but never chosen"));
}

void add_workers_flag(CLI::App& command, int& workers) {
    add_option(command, {"--workers"}, workers,
               "number of processes of a search; 0: one per processor (default)");
}

void check_outputs(bool json, bool csv, const std::vector<OutputFlag>& files,
                   const std::vector<std::string>& inputs) {
    if (json && csv) throw InputError("--json and --csv both go to standard output; give one");
    check_output_files(files, inputs);
}

int print(const std::string& text) {
    std::fputs(printable(text).c_str(), stdout);
    return 0;
}

int processes_of(int workers) {
    if (workers < 0 || workers > 4096)
        throw InputError(
            fmt::format("--workers is {}, expected 0 (all processors) to 4096", workers));
    return workers == 0 ? usable_processors() : workers;
}

ClusterFlag read_cluster_flag(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0)
        throw InputError(fmt::format(
            "--cluster is \"{}\", expected MACHINE:GPUS, as in h100-sxm-pcie5:8", text));
    TrainingSpec training;
    set_option(training, training_option("gpus"), text.substr(colon + 1),
               fmt::format("--cluster {}: GPUS", text));
    return {read_machine_profile(text.substr(0, colon), "--cluster"), training.gpus};
}

std::map<std::string, double> read_prices(const std::vector<std::string>& prices,
                                          const std::vector<std::string>& names) {
    constexpr double kLeast = 1e-4, kMost = 1e7;  // as --usd-per-hour
    std::map<std::string, double> out;
    for (const std::string& text : prices) {
        const std::size_t equals = std::min(text.find('='), text.size());
        const std::string name = text.substr(0, equals);
        const std::optional<double> usd =
            parse_number(std::string_view(text).substr(std::min(equals + 1, text.size())));
        if (std::ranges::find(names, name) == names.end() || !usd || *usd < kLeast || *usd > kMost)
            throw InputError(
                fmt::format("--price is \"{}\", expected NAME=DOLLARS an hour with a machine or "
                            "cluster of the command, as in {}=2.5, from {} to {:.0f}",
                            text, names.front(), kLeast, kMost));
        if (!out.emplace(name, *usd).second)
            throw InputError(fmt::format("--price gives {} twice; give it once", name));
    }
    return out;
}

}  // namespace sluice

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string_view>

#include "sim/answers/search/progress_line.h"
#include "sim/answers/search/search.h"
#include "sim/answers/search/sweep_rows.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/cli/commands.h"
#include "sim/command_line/scenario.h"
#include "sim/simulate/simulation_service.h"

namespace sluice {
namespace {

struct SweepFlags {
    std::optional<std::string> file, scenario;
    std::optional<PlannedScenario> planned;
    SweepSpec given;  ///< by flags; options are in `option_values`
    std::vector<std::optional<std::string>> option_values;
    std::optional<std::string> out_file;
    std::string bands = "best";
    bool every_row = false, csv = false, json = false;
    int workers = 0;
};

/// The scenario as lists of one value.
SweepSpec spec_of(const PlannedScenario& planned) {
    SweepSpec spec;
    if (!planned.model.model.empty()) spec.models = {planned.model.model};
    spec.layers = planned.model.layers;
    spec.untied = planned.model.untied;
    if (!planned.machine.machine.empty()) spec.machines = {planned.machine.machine};
    spec.host_memory = planned.machine.host_memory;
    spec.settings = planned.machine.settings;
    spec.options = planned.training;
    return spec;
}

SweepSpec read_spec(const SweepFlags& flags) {
    if (flags.file && flags.planned)
        throw InputError("--sweep and --scenario both say what is swept; give one");
    SweepSpec spec;
    if (flags.planned) spec = spec_of(*flags.planned);
    if (flags.file) spec = parse_sweep_spec(read_text_file(*flags.file), *flags.file);
    const SweepSpec& given = flags.given;
    if (!given.models.empty()) spec.models = given.models;
    if (!given.machines.empty()) spec.machines = given.machines;
    spec.untied = spec.untied || given.untied;
    if (!given.settings.empty()) spec.settings = given.settings;
    if (given.layers) spec.layers = given.layers;
    if (given.host_memory) spec.host_memory = given.host_memory;
    for (std::size_t i = 0; i < flags.option_values.size(); ++i) {
        const char* const field = training_options()[i].field;
        if (!flags.option_values[i]) continue;
        spec.options[field] = *flags.option_values[i];
        spec.where.erase(field);
    }
    if (spec.models.empty())
        throw InputError("no model to sweep; give --model NAME..., or \"models\" in --sweep FILE");
    if (spec.machines.empty())
        throw InputError(
            "no machine to sweep; give --machine NAME..., or \"machines\" in --sweep FILE");
    return spec;
}

/// The parts of a list that may be left out: then one that is nothing.
std::vector<std::optional<std::string>> parts_of(const std::optional<std::string>& list) {
    if (!list) return {std::nullopt};
    const std::vector<std::string> parts = split_list(*list);
    return {parts.begin(), parts.end()};
}

ScenarioGrid read_grid(const SweepSpec& spec) {
    ScenarioGrid grid = grid_of_options(spec);
    for (const std::string& name : spec.models)
        for (const auto& layers : parts_of(spec.layers))
            grid.models.push_back(read_model_flags({name, layers, spec.untied}));
    for (const std::string& name : spec.machines)
        for (const auto& memory : parts_of(spec.host_memory))
            grid.machines.push_back(read_machine_flags({name, memory, spec.settings}));
    return grid;
}

SearchOptions read_options(const SweepFlags& flags) {
    SearchOptions options;
    options.every_row = flags.every_row;
    if (flags.bands == "none")
        options.bands = BandsOf::none;
    else if (flags.bands == "simulated")
        options.bands = BandsOf::simulated;
    else if (flags.bands != "best")
        throw InputError(
            fmt::format("--bands is \"{}\", expected none, best or simulated", flags.bands));
    return options;
}

std::vector<bool> best_rows(const ScenarioGrid& grid, const std::vector<SearchRow>& rows) {
    std::vector<bool> best(rows.size(), false);
    for (std::size_t group = 0; group < grid.groups(); ++group)
        if (const auto index = best_of_group(grid, rows, group)) best[*index] = true;
    return best;
}

void write_rows(const SweepFlags& flags, const ScenarioGrid& grid,
                const std::vector<SearchRow>& rows) {
    const std::vector<bool> best = best_rows(grid, rows);
    std::string text = flags.json ? "" : csv_header();
    for (const SearchRow& row : rows) {
        const GridPoint point = grid.at(row.index);
        text += flags.json ? row_json(row, point, best[row.index])
                           : row_csv(row, point, best[row.index]);
    }
    if (flags.out_file)
        write_file(*flags.out_file, text);
    else
        std::fputs(text.c_str(), stdout);
}

void say_summary(const std::vector<SearchRow>& rows, double seconds) {
    std::array<std::size_t, 4> of_state{};
    for (const SearchRow& row : rows) ++of_state[static_cast<std::size_t>(row.state)];
    fmt::print(stderr,
               "sweep: {} in {}: {} simulated, {} bounded (cannot be the best of their group), {} "
               "too large, {} excluded\n",
               format_number_of(std::ssize(rows), "row"), format_seconds(seconds), of_state[3],
               of_state[2], of_state[1], of_state[0]);
}

int processes_of(int workers) {
    if (workers < 0 || workers > 4096)
        throw InputError(
            fmt::format("--workers is {}, expected 0 (all processors) to 4096", workers));
    return workers == 0 ? usable_processors() : workers;
}

/// Before the search, which may take minutes.
void check_output(const SweepFlags& flags) {
    if (flags.json && flags.csv)
        throw InputError("--json and --csv are two forms of one table; give one");
    if (!flags.out_file) return;
    if (flags.out_file->empty())
        throw InputError("--out needs the name of a file, not an empty one");
    if (!std::ofstream(*flags.out_file, std::ios::app))
        throw InputError(fmt::format(
            "{}: cannot be written; check that the folder exists, is writable and has space",
            *flags.out_file));
}

void say_and_end(int signal) {
    constexpr std::string_view kSentence = "\nsweep: interrupted; no rows are written\n";
    (void)!write(STDERR_FILENO, kSentence.data(), kSentence.size());
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

int run_sweep(const SweepFlags& flags) {
    const ScenarioGrid grid = read_grid(read_spec(flags));
    SearchOptions options = read_options(flags);
    options.processes = processes_of(flags.workers);
    (void)grid.size();
    check_output(flags);
    if (std::signal(SIGINT, say_and_end) == SIG_IGN) std::signal(SIGINT, SIG_IGN);
    ProgressLine line("sweep");
    const std::vector<SearchRow> rows =
        search(grid, options, [&line](const SearchProgress& progress) { line.show(progress); });
    write_rows(flags, grid, rows);
    line.clear();
    say_summary(rows, line.seconds());
    return 0;
}

void add_sweep_option_flags(CLI::App& command, SweepFlags& flags) {
    flags.option_values.resize(training_options().size());
    for (std::size_t i = 0; i < training_options().size(); ++i) {
        const Option& option = training_options()[i];
        command
            .add_option(option_flag(option), flags.option_values[i],
                        std::string(option.help) + "; a list")
            ->group("Training");
    }
}

}  // namespace

void add_sweep(CLI::App& app, Command& chosen) {
    CLI::App* const command = app.add_subcommand(
        "sweep", "Every combination of models, machines and settings as a table, the best marked");
    const auto flags = std::make_shared<SweepFlags>();
    SweepSpec& given = flags->given;
    add_scenario_flag(*command, flags->scenario, [&flags = *flags](const auto* planned) {
        if (planned != nullptr) flags.planned = *planned;
    });
    command->add_option("--sweep", flags->file,
                        "a JSON file of lists: models, layers, machines, host_memory, set, and the "
                        "options below; flags override it");
    command->add_option("--model", given.models, "models, as for predict");
    command->add_option("--layers", given.layers, "only the first N layers of each; a list");
    command->add_flag("--untied", given.untied, "as for predict, for every model");
    command->add_option("--machine", given.machines, "machines, as for predict");
    command->add_option("--host-memory", given.host_memory,
                        "host memory of each machine; a list, as in 512GB,1TB");
    command->add_option("--set", given.settings, "another value for a number of all machines");
    add_sweep_option_flags(*command, *flags);
    command->add_flag("--all", flags->every_row,
                      "simulate every row that fits; default: only rows that could be the best of "
                      "their model, machine, schedule and sequence");
    command->add_option("--bands", flags->bands,
                        "rows with a 5 to 95% band: none, best (default) or simulated");
    command->add_option("--workers", flags->workers,
                        "number of processes; 0: one per processor (default)");
    command->add_flag("--csv", flags->csv, "one line per row (default)")->group("Output");
    command->add_flag("--json", flags->json, "one line of JSON per row; keys carry units")
        ->group("Output");
    command->add_option("--out", flags->out_file, "write to this file when all rows are known")
        ->group("Output");
    command->callback([&chosen, flags] { chosen = [flags] { return run_sweep(*flags); }; });
}

}  // namespace sluice

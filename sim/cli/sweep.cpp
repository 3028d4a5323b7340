#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string_view>

#include "sim/answers/search/search.h"
#include "sim/answers/search/sweep_output.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/cli/commands.h"
#include "sim/cli/flags.h"
#include "sim/cli/progress.h"
#include "sim/command_line/help.h"
#include "sim/command_line/scenario.h"

namespace sluice {
namespace {

struct SweepFlags {
    std::optional<std::string> file;
    ScenarioFlags scenario;
    std::vector<std::string> models, machines, columns;
    std::optional<std::string> out_file;
    std::string bands = "best";
    bool every_row = false, csv = false, json = false;
    int workers = 0;
};

SweepSpec read_spec(const SweepFlags& flags) {
    if (flags.file && flags.scenario.scenario_file)
        throw InputError("--sweep and --scenario both say what is swept; give one");
    SweepSpec spec;
    if (flags.file) {
        spec = parse_sweep_spec(read_text_file(*flags.file), *flags.file);
    } else {
        spec.lists = base_scenario(flags.scenario);
        if (!spec.lists.model.model.empty()) spec.models = {spec.lists.model.model};
        if (!spec.lists.machine.machine.empty()) spec.machines = {spec.lists.machine.machine};
    }
    spec.lists = with_flags(std::move(spec.lists), flags.scenario);
    for (const auto& [field, list] : flags.scenario.given.training) spec.where.erase(field);
    if (!flags.models.empty()) spec.models = flags.models;
    if (!flags.machines.empty()) spec.machines = flags.machines;
    if (spec.models.empty())
        throw InputError("no model to sweep; give --model NAME..., or \"models\" in --sweep FILE");
    if (spec.machines.empty())
        throw InputError(
            "no machine to sweep; give --machine NAME..., or \"machines\" in --sweep FILE");
    return spec;
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

/// The keys of --columns, or all.
std::vector<std::string> read_columns(const SweepFlags& flags) {
    const std::vector<std::string> all = sweep_columns();
    for (const std::string& key : flags.columns) {
        if (std::ranges::find(all, key) == all.end())
            throw InputError(
                fmt::format("--columns: \"{}\" is no column{}; the first line of --csv lists them",
                            key, did_you_mean(key, all)));
        if (std::ranges::count(flags.columns, key) > 1)
            throw InputError(fmt::format("--columns names \"{}\" twice; give it once", key));
    }
    return flags.columns.empty() ? all : flags.columns;
}

std::vector<bool> best_rows(const ScenarioGrid& grid, const std::vector<SearchRow>& rows) {
    std::vector<bool> best(rows.size(), false);
    for (std::size_t group = 0; group < grid.groups(); ++group)
        if (const auto index = best_of_group(grid, rows, group)) best[*index] = true;
    return best;
}

void write_rows(const SweepFlags& flags, const ScenarioGrid& grid,
                const std::vector<SearchRow>& rows, const std::vector<std::string>& keys) {
    const std::vector<bool> best = best_rows(grid, rows);
    std::string text = flags.json ? "" : csv_header(keys);
    for (const SearchRow& row : rows) {
        const GridPoint point = grid.at(row.index);
        text += flags.json ? row_json(row, point, best[row.index], keys)
                           : row_csv(row, point, best[row.index], keys);
    }
    if (flags.out_file)
        write_file(*flags.out_file, text);
    else
        print(text);
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

/// Before the search, which may take minutes.
void check_output(const SweepFlags& flags, const SweepSpec& spec) {
    std::vector<std::string> inputs = {flags.file.value_or(""),
                                       flags.scenario.scenario_file.value_or("")};
    for (const auto* names : {&spec.models, &spec.machines})
        inputs.insert(inputs.end(), names->begin(), names->end());
    check_outputs(flags.json, flags.csv, {{"--out", flags.out_file}}, inputs);
}

void say_and_end(int signal) {
    constexpr std::string_view kSentence = "\nsweep: interrupted; no rows are written\n";
    (void)!write(STDERR_FILENO, kSentence.data(), kSentence.size());
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

int run_sweep(const SweepFlags& flags) {
    const SweepSpec spec = read_spec(flags);
    const ScenarioGrid grid = grid_of(spec);
    const std::vector<std::string> keys = read_columns(flags);
    SearchOptions options = read_options(flags);
    options.processes = processes_of(flags.workers);
    (void)grid.size();
    check_output(flags, spec);
    if (std::signal(SIGINT, say_and_end) == SIG_IGN) std::signal(SIGINT, SIG_IGN);
    ProgressLine line("sweep");
    const std::vector<SearchRow> rows = search(
        grid, options, [&line](const SearchProgress& progress) { sluice::show(line, progress); });
    write_rows(flags, grid, rows, keys);
    line.clear();
    say_summary(rows, line.seconds());
    return 0;
}

}  // namespace

void add_sweep(CLI::App& app, Command& chosen) {
    const auto [command, flags] = add_command(
        app, chosen, "sweep",
        "Every combination of models, machines and settings as a table, with the best rows marked",
        run_sweep);
    PlannedScenario& given = flags->scenario.given;
    add_scenario_flag(*command, flags->scenario);
    add_option(*command, {"--sweep", "FILE"}, flags->file,
               "a JSON file of lists: models, layers, machines, host_memory, set, and the "
               "options below; flags override it");
    take_models(add_option(*command, {"--model", "NAME", "Model and machine"}, flags->models,
                           "models, as for predict"));
    add_option(*command, {"--layers", "N", "Model and machine"}, given.model.layers,
               "only the first N layers of each; a list");
    command->add_flag("--untied", given.model.untied, "as for predict, for every model")
        ->group("Model and machine");
    add_option(*command, {"--machine", "NAME", "Model and machine"}, flags->machines,
               "machines, as for predict");
    add_option(*command, {"--host-memory", "SIZE", "Model and machine"}, given.machine.host_memory,
               "host memory of each machine; a list, as in 512GB,1TB");
    add_option(*command, {"--set", "PATH=N", "Model and machine"}, given.machine.settings,
               "another value for a number of all machines");
    add_option_flags(*command, given.training, "; a list");
    command->add_flag("--all", flags->every_row,
                      "simulate every row that fits; default: only rows that could be the best of "
                      "their model, machine, schedule and sequence");
    add_option(*command, {"--bands", "{none,best,simulated}"}, flags->bands,
               "rows with a 5 to 95% band: none, best (default) or simulated");
    add_workers_flag(*command, flags->workers);
    command->add_flag("--csv", flags->csv, "one line per row (default)")->group("Output");
    add_option(*command, {"--columns", "NAME", "Output"}, flags->columns,
               "only these columns, as in batch,tokens_per_s; default: all")
        ->delimiter(',');
    command->add_flag("--json", flags->json, "one line of JSON per row; keys carry units")
        ->group("Output");
    add_option(*command, {"--out", "FILE", "Output"}, flags->out_file,
               "write to this file when all rows are known");
}

}  // namespace sluice

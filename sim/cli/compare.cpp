#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "sim/answers/compare/comparison.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/cli/cluster_flag.h"
#include "sim/cli/commands.h"
#include "sim/command_line/scenario.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/to_svg.h"

namespace sluice {
namespace {

struct CompareFlags {
    ScenarioFlags scenario;
    std::optional<std::string> schedules, svg_file;
    std::vector<std::string> clusters;  ///< MACHINE:GPUS
    bool json = false, csv = false;
};

void check_flags(const CompareFlags& flags) {
    if (flags.json && flags.csv)
        throw InputError("--json and --csv both go to standard output; give one");
    check_files({{"--svg", flags.svg_file}});
}

/// Ignores a project's own schedule.
PlannedScenario asked_of_all(const ScenarioFlags& flags) {
    PlannedScenario base = base_scenario(flags);
    base.training.erase("schedule");
    return with_flags(std::move(base), flags);
}

TrainingSpec read_training_of_all(const PlannedScenario& asked, const ScenarioFlags& flags) {
    const TrainingSpec training = training_values(asked);
    if (training.schedule != TrainingSpec{}.schedule)
        throw InputError(fmt::format(
            "{}: schedule is \"{}\", but compare takes the systems from --schedules; leave it out",
            flags.training_file.value_or("--training"), training.schedule->name));
    return training;
}

/// The model with each given number of layers: "4,8,16", or all of them.
std::vector<ModelSpec> read_models(const PlannedModel& asked) {
    if (!asked.layers) return {read_model(asked)};
    std::vector<ModelSpec> models;
    for (const std::string& layers : split_list(*asked.layers))
        models.push_back(read_model(PlannedModel{asked.model, layers, asked.untied}));
    return models;
}

std::vector<ClusterFlag> read_clusters(const std::vector<std::string>& texts) {
    std::vector<ClusterFlag> clusters;
    for (const std::string& text : texts) {
        if (std::count(texts.begin(), texts.end(), text) > 1)
            throw InputError(fmt::format("--cluster {} is given twice; give it once", text));
        clusters.push_back(read_cluster_flag(text));
    }
    return clusters;
}

int run_compare(const CompareFlags& flags) {
    check_flags(flags);
    const PlannedScenario asked = asked_of_all(flags.scenario);
    const std::vector<ModelSpec> models = read_models(asked.model);
    const ProfiledMachine machine = read_machine(asked.machine);
    const TrainingSpec training = read_training_of_all(asked, flags.scenario);
    const std::vector<Schedule> schedules =
        flags.schedules ? parse_schedules(*flags.schedules) : schedules_of(machine.spec);
    const std::vector<ClusterFlag> named = read_clusters(flags.clusters);
    std::vector<ClusterToCompare> clusters;
    for (const ClusterFlag& cluster : named)
        clusters.push_back({resolve_machine(cluster.profile), cluster.gpus, &cluster.profile});
    std::vector<Comparison> comparisons;
    for (const ModelSpec& model : models) {
        comparisons.push_back(
            compare(model, machine.spec, training, schedules, clusters, &machine.profile));
        if (!flags.schedules) comparisons.back().left_out = left_out(machine.spec);
    }
    if (flags.svg_file)
        write_file(*flags.svg_file, to_svg(bars_picture(comparison_bars(comparisons))));
    const std::string text = flags.json  ? comparison_json(comparisons)
                             : flags.csv ? comparison_csv(comparisons)
                                         : comparison_text(comparisons);
    std::fputs(text.c_str(), stdout);
    return 0;
}

}  // namespace

void add_compare(CLI::App& app, Command& chosen) {
    CLI::App* const command =
        app.add_subcommand("compare", "How do all systems train that model on that machine?");
    const auto flags = std::make_shared<CompareFlags>();
    add_scenario_flags(*command, flags->scenario);
    command->remove_option(command->get_option("--schedule"));
    command->get_option("--layers")
        ->description(
            "only the first N layers of the model; several numbers (4,8,16) show a trend");
    command->add_option("--schedules", flags->schedules,
                        "only these systems, as in streamed,megatrain; default: all, with "
                        "zero-infinity only if the machine's storage is known. Options under "
                        "Training apply to the systems that have them");
    command->add_option("--cluster", flags->clusters,
                        "MACHINE:GPUS, as in h100-sxm-pcie5:8: add that many of those GPUs with "
                        "everything in their memory; may be given several times");
    command->add_flag("--json", flags->json, "everything as JSON; keys carry units")
        ->group("Output");
    command->add_flag("--csv", flags->csv, "one line per system")->group("Output");
    command->add_option("--svg", flags->svg_file, "write a bar chart of tokens/s")->group("Output");
    command->callback([&chosen, flags] { chosen = [flags] { return run_compare(*flags); }; });
}

}  // namespace sluice

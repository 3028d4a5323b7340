#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/answers/compare/comparison.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/cli/commands.h"
#include "sim/cli/flags.h"
#include "sim/cli/progress.h"
#include "sim/command_line/help.h"
#include "sim/command_line/scenario.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/table.h"
#include "sim/report/to_svg.h"
#include "sim/specs/scenario/changed_scenario.h"
#include "sim/specs/scenario/option_effect.h"

namespace sluice {
namespace {

struct CompareFlags {
    ScenarioFlags scenario;
    std::optional<std::string> schedules, svg_file;
    std::vector<std::string> clusters;  ///< MACHINE:GPUS
    PlanFlag plan{true};                ///< of a scenario, too
    bool planned_too = false, json = false, csv = false;
};

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
        models.push_back(
            read_model(PlannedModel{asked.model, layers, asked.untied, asked.vocabulary}));
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
    std::vector<std::string> inputs = input_files(flags.scenario);
    inputs.insert(inputs.end(), flags.clusters.begin(), flags.clusters.end());
    check_outputs(flags.json, flags.csv, {{"--svg", flags.svg_file}}, inputs);
    const PlannedScenario asked = asked_of_all(flags.scenario);
    const std::vector<ModelSpec> models = read_models(asked.model);
    const ProfiledMachine machine = read_machine(asked.machine);
    const TrainingSpec training = read_training_of_all(asked, flags.scenario);
    const ComparedSchedules compared = compared_schedules(
        machine.spec, training,
        flags.schedules ? std::optional(parse_schedules(*flags.schedules)) : std::nullopt);
    const std::vector<ClusterFlag> named = read_clusters(flags.clusters);
    const std::vector<Quote> quotes = read_money(asked).quotes;
    std::vector<ClusterToCompare> clusters;
    for (const ClusterFlag& cluster : named)
        clusters.push_back(
            {resolve_machine(cluster.profile), cluster.gpus, price_list(cluster.profile, quotes)});
    const std::set<std::string> given = given_options(asked);
    std::vector<Comparison> comparisons;
    for (const ModelSpec& model : models) check_effects(model, training);
    for (const ModelSpec& model : models) {
        comparisons.push_back(with_progress("compare", [&] {
            return compare(model, machine.spec, training, compared, clusters,
                           price_list(machine.profile, quotes),
                           flags.plan.chooses(flags.scenario) ? &given : nullptr,
                           flags.plan.as_users_run);
        }));
        comparisons.back().planned_too = flags.planned_too;
    }
    if (flags.svg_file)
        write_file(*flags.svg_file, to_svg(bars_picture(comparison_bars(comparisons))));
    return print(flags.json  ? comparison_json(comparisons)
                 : flags.csv ? comparison_csv(comparisons)
                             : folded(comparison_text(comparisons)));
}

}  // namespace

void add_compare(CLI::App& app, Command& chosen) {
    const auto [command, flags] =
        add_command(app, chosen, "compare", "How do all systems train that model on that machine?",
                    run_compare);
    add_scenario_flags(*command, flags->scenario);
    command->remove_option(command->get_option("--schedule"));
    command->get_option("--layers")
        ->description(
            "only the first N layers of the model; several numbers (4,8,16) show a trend");
    add_option(*command, {"--schedules", "NAME[,NAME...]"}, flags->schedules,
               described("only these systems; an option applies to those that have it [all]",
                         "only these systems, as in streamed,megatrain; default: all, with "
                         "zero-infinity only if the machine's storage is known. An option "
                         "of a plan applies to the systems that have it"));
    add_option(*command, {"--cluster", "MACHINE:GPUS", "Model and machine"}, flags->clusters,
               "MACHINE:GPUS, as in h100-sxm-pcie5:8: add that many of those GPUs with "
               "everything in their memory; may be given several times");
    add_plan_flag(*command, flags->plan, true);
    add_quotes_flag(*command, flags->scenario);
    add_planned_too_flag(*command, flags->planned_too);
    add_json_flag(*command, flags->json);
    command->add_flag("--csv", flags->csv, "one line per system")->group("Output");
    add_option(*command, {"--svg", "FILE", "Output"}, flags->svg_file,
               "write a bar chart of tokens/s");
}

}  // namespace sluice

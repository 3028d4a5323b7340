#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "sim/answers/decision/decision.h"
#include "sim/answers/search/advise_grid.h"
#include "sim/base/input_error.h"
#include "sim/cli/commands.h"
#include "sim/cli/flags.h"
#include "sim/cli/progress.h"
#include "sim/command_line/help.h"
#include "sim/command_line/scenario.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/table.h"
#include "sim/specs/scenario/changed_scenario.h"

namespace sluice {
namespace {

struct ReportFlags {
    ScenarioFlags scenario;
    PlanFlag plan;
    std::vector<std::string> machines, clusters, prices;
    std::string aim = "cost", out_file, date;
    bool advise = false, planned_too = false;
    int workers = 0;
};

/// --machine and --cluster replace the project's machine.
PlannedScenario asked_of(const ReportFlags& flags) {
    PlannedScenario base = base_scenario(flags.scenario);
    if (flags.advise) forget_free_choices(base);
    if (!flags.machines.empty() || !flags.clusters.empty()) base.machine = {};
    return with_flags(std::move(base), flags.scenario);
}

/// Machines and clusters by the name that --price uses.
std::vector<std::pair<std::string, AskedMachine>> asked_machines(const ReportFlags& flags,
                                                                 const PlannedScenario& asked) {
    std::vector<std::pair<std::string, AskedMachine>> out;
    const auto add = [&](const std::string& name, const PlannedMachine& machine,
                         MachineProfile profile, std::int64_t gpus) {
        AskedMachine one{std::move(profile), gpus, std::nullopt};
        one.planned = asked;
        one.planned.name.clear();
        one.planned.machine = machine;
        out.emplace_back(name, std::move(one));
    };
    const auto add_machine = [&](const PlannedMachine& machine) {
        add(machine.machine, machine, read_machine(machine).profile, 0);
    };
    if (!asked.machine.machine.empty()) add_machine(asked.machine);
    for (const std::string& name : flags.machines) add_machine({name, {}, {}});
    for (const std::string& text : flags.clusters) {
        ClusterFlag cluster = read_cluster_flag(text);
        add(text, {text.substr(0, text.rfind(':')), {}, {}}, std::move(cluster.profile),
            cluster.gpus);
    }
    for (std::size_t i = 0; i < out.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (out[i].first == out[j].first)
                throw InputError(fmt::format("{} is named twice; name it once", out[i].first));
    return out;
}

std::vector<AskedMachine> read_machines(const ReportFlags& flags, const PlannedScenario& asked) {
    auto named = asked_machines(flags, asked);
    if (named.empty())
        throw InputError("no machine is named; give --machine NAME or --cluster MACHINE:GPUS");
    std::vector<std::string> names;
    for (const auto& [name, machine] : named) names.push_back(name);
    const std::map<std::string, double> prices = read_prices(flags.prices, names);
    std::vector<AskedMachine> out;
    for (auto& [name, machine] : named) {
        if (const auto price = prices.find(name); price != prices.end())
            machine.usd_per_hour = price->second;
        out.push_back(std::move(machine));
    }
    return out;
}

/// Clusters train with a schedule of their own, which has other options than that of one GPU.
PlannedScenario of_clusters(PlannedScenario asked) {
    asked.training.try_emplace("schedule", schedule_with(&ScheduleRecord::several_gpus)->name);
    return asked;
}

void check_training(const TrainingSpec& training) {
    if (training.schedule->several_gpus || training.gpus != 1)
        throw InputError(
            "--schedule cluster and --gpus are taken from --cluster MACHINE:GPUS; leave them out");
}

std::string today() {
    return fmt::format(
        "{:%Y-%m-%d}",
        fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

void check_flags(const ReportFlags& flags) {
    std::vector<std::string> inputs = input_files(flags.scenario);
    for (const auto* names : {&flags.machines, &flags.clusters})
        inputs.insert(inputs.end(), names->begin(), names->end());
    if (flags.out_file.ends_with(".pdf"))
        throw InputError(fmt::format(
            "--out is {}, expected an HTML file such as report.html; the window exports PDF, and a "
            "browser prints the page",
            flags.out_file));
    check_outputs(false, false, {{"--out", flags.out_file}}, inputs);
    if (flags.aim != "cost" && flags.aim != "speed")
        throw InputError(fmt::format("--by is \"{}\", expected cost or speed", flags.aim));
    const auto& file = flags.scenario.training_file;
    if (flags.advise && file)
        throw InputError(fmt::format(
            "--training is {}, but --advise chooses what flags do not fix; give flags instead",
            *file));
}

DecisionRequest read_request(const ReportFlags& flags) {
    check_flags(flags);
    const PlannedScenario asked = asked_of(flags);
    DecisionRequest request;
    request.model = read_model(asked.model);
    request.machines = read_machines(flags, asked);
    request.money = read_money(asked);
    const std::size_t machines = request.machines.size();
    if (machines > 1)  // different machines
        refuse_one_price(
            request.money,
            fmt::format("{} machines; give --price NAME=DOLLARS an hour for each", machines));
    const bool clusters_alone =
        flags.clusters.size() == machines && !asked.training.contains("schedule");
    if (flags.advise)
        request.advise = advice_request(asked);
    else
        request.training = read_training(clusters_alone ? of_clusters(asked) : asked);
    if (flags.advise || !clusters_alone)
        check_training(request.advise ? request.advise->given : request.training);
    if (!flags.advise && flags.plan.chooses(flags.scenario))
        request.chosen_beside = given_options(asked);
    request.aim = flags.aim == "cost" ? Aim::cheapest : Aim::fastest;
    request.planned_too = flags.planned_too;
    request.workers = processes_of(flags.workers);
    request.date = flags.date.empty() ? today() : flags.date;
    request.version = SLUICE_VERSION;
    return request;
}

int run_report(const ReportFlags& flags) {
    const Decision decision = with_progress("report", [&] { return decide(read_request(flags)); });
    write_file(flags.out_file, decision_html(decision));
    return print(folded(fmt::format("{}\nwritten: {}\n", decision_text(decision), flags.out_file)));
}

}  // namespace

void add_report(CLI::App& app, Command& chosen) {
    const auto [command, flags] = add_command(
        app, chosen, "report",
        "Which machine to buy or rent for that model? One page with all its sources", run_report);
    add_scenario_flag(*command, flags->scenario);
    add_model_flags(*command, flags->scenario.given.model);
    add_option(*command, {"--machine", "NAME", "Model and machine"}, flags->machines,
               "as for predict; may be given several times");
    add_option(*command, {"--cluster", "MACHINE:GPUS", "Model and machine"}, flags->clusters,
               "MACHINE:GPUS, as in h100-sxm-pcie5:8: add that many of those GPUs with "
               "everything in their memory; may be given several times");
    add_option(*command, {"--by", "{cost,speed}"}, flags->aim,
               "the criterion of the best machine: the least cost per token (cost, default) or "
               "the highest speed (speed)");
    command->add_flag(
        "--advise", flags->advise,
        "search the best settings for each machine; settings given as flags stay fixed");
    add_plan_flag(*command, flags->plan);
    add_planned_too_flag(*command, flags->planned_too);
    add_workers_flag(*command, flags->workers);
    add_training_flags(*command, flags->scenario);
    add_money_flags(*command, flags->scenario);
    add_option(*command, {"--price", "NAME=N", "Money and energy"}, flags->prices,
               "NAME=DOLLARS an hour for a machine or a whole cluster, electricity included; "
               "may be given several times");
    add_option(*command, {"--out", "FILE", "Output"}, flags->out_file, "the HTML file to write")
        ->required();
    add_option(*command, {"--date", "DATE", "Output"}, flags->date,
               "date shown on the page; default: today");
}

}  // namespace sluice

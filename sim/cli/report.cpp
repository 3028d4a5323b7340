#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <memory>

#include "sim/answers/decision/decision.h"
#include "sim/answers/search/advise_grid.h"
#include "sim/base/input_error.h"
#include "sim/cli/cluster_flag.h"
#include "sim/cli/commands.h"
#include "sim/cli/money_flags.h"
#include "sim/command_line/scenario.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/simulate/simulation_service.h"

namespace sluice {
namespace {

struct ReportFlags {
    std::optional<std::string> scenario;
    ModelFlags model;
    TrainingFlags training;
    std::vector<std::string> machines, clusters, prices;
    CostQuery money;
    std::string aim = "cost", out_file, date;
    std::optional<std::string> host_memory;  ///< of the scenario's machine, as its settings
    std::vector<std::string> settings;
    bool advise = false;
    int workers = 0;
};

double price_number(const std::string& text, const std::string& flag) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    constexpr double kLeast = 1e-4, kMost = 1e7;  // as --usd-per-hour
    if (error == std::errc() && end == text.data() + text.size() && value >= kLeast &&
        value <= kMost)
        return value;
    throw InputError(
        fmt::format("--price is \"{}\", expected NAME=DOLLARS an hour, as in "
                    "gh200-480gb=2.5, from 0.0001 to 10000000",
                    flag));
}

/// Machines and clusters by the name under which --price knows them.
std::vector<std::pair<std::string, AskedMachine>> asked_machines(const ReportFlags& flags) {
    std::vector<std::pair<std::string, AskedMachine>> out;
    for (const std::string& name : flags.machines) {
        const MachineFlags machine{name, flags.host_memory, flags.settings};
        MachineProfile profile = read_profile_flags(machine);
        resolve_machine_flags(profile, machine);  // refuses a number on which nothing rests
        out.push_back({name, {std::move(profile), 0, std::nullopt}});
    }
    for (const std::string& text : flags.clusters) {
        ClusterFlag cluster = read_cluster_flag(text);
        out.push_back({text, {std::move(cluster.profile), cluster.gpus, std::nullopt}});
    }
    for (std::size_t i = 0; i < out.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (out[i].first == out[j].first)
                throw InputError(fmt::format("{} is named twice; name it once", out[i].first));
    return out;
}

std::vector<AskedMachine> read_machines(const ReportFlags& flags) {
    auto named = asked_machines(flags);
    if (named.empty())
        throw InputError("no machine is named; give --machine NAME or --cluster MACHINE:GPUS");
    for (const std::string& price : flags.prices) {
        const std::size_t equals = price.find('=');
        const auto machine = std::find_if(named.begin(), named.end(), [&](const auto& one) {
            return equals != std::string::npos && one.first == price.substr(0, equals);
        });
        if (machine == named.end())
            throw InputError(fmt::format(
                "--price is \"{}\", expected NAME=DOLLARS an hour with a machine or cluster of the "
                "command, as in {}=2.5",
                price, named.front().first));
        machine->second.usd_per_hour = price_number(price.substr(equals + 1), price);
    }
    std::vector<AskedMachine> out;
    for (auto& [name, machine] : named) out.push_back(std::move(machine));
    return out;
}

/// One price for machines that differ would be a mistake.
void check_prices(const ReportFlags& flags) {
    check_money(flags.money);
    const std::size_t machines = flags.machines.size() + flags.clusters.size();
    if (machines > 1)
        refuse_one_price(
            flags.money,
            fmt::format("{} machines; give --price NAME=DOLLARS an hour for each", machines));
}

void check_training(const TrainingSpec& training) {
    if (training.schedule->several_gpus || training.gpus != 1)
        throw InputError(
            "--schedule cluster and --gpus are taken from --cluster MACHINE:GPUS; leave them out");
}

/// What flags give is fixed; the rest is chosen.
AdviceRequest advice_request(const TrainingFlags& flags) {
    if (flags.file)
        throw InputError(fmt::format(
            "--training is {}, but --advise chooses what flags do not fix; give flags instead",
            *flags.file));
    AdviceRequest out;
    out.given = training_values(flags);
    for (std::size_t i = 0; i < flags.option_values.size(); ++i)
        if (flags.option_values[i]) out.fixed.insert(training_options()[i].field);
    return out;
}

std::string today() {
    return fmt::format(
        "{:%Y-%m-%d}",
        fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

DecisionRequest read_request(const ReportFlags& flags) {
    check_prices(flags);
    if (flags.out_file.empty())
        throw InputError("--out needs the name of a file, not an empty one");
    if (flags.aim != "cost" && flags.aim != "speed")
        throw InputError(fmt::format("--by is \"{}\", expected cost or speed", flags.aim));
    if (flags.workers < 0 || flags.workers > 4096)
        throw InputError(
            fmt::format("--workers is {}, expected 0 (all processors) to 4096", flags.workers));
    DecisionRequest request;
    request.model = read_model_flags(flags.model);
    request.machines = read_machines(flags);
    if (flags.advise) {
        request.advise = advice_request(flags.training);
        check_training(request.advise->given);
    } else {
        request.training = read_training_flags(flags.training);
        check_training(request.training);
    }
    request.money = flags.money;
    request.aim = flags.aim == "cost" ? Aim::cheapest : Aim::fastest;
    request.workers = flags.workers == 0 ? usable_processors() : flags.workers;
    request.date = flags.date.empty() ? today() : flags.date;
    request.version = SLUICE_VERSION;
    return request;
}

/// What of it the flags do not say: --machine and --cluster name others than its machine.
void take_scenario(const CLI::App& command, ReportFlags& flags, const PlannedScenario* planned) {
    if (planned != nullptr) {
        PlannedScenario kept = *planned;
        if (flags.advise) forget_free_choices(kept.training);
        take_model(kept, flags.model);
        if (flags.machines.empty() && flags.clusters.empty())
            take_machine(kept, flags.machines, flags.host_memory, flags.settings);
        take_training(kept, flags.training.option_values);
        take_money(kept, command, flags.money);
    }
    require_flag(command, "--model", !flags.model.model.empty());
}

int run_report(const ReportFlags& flags) {
    const Decision decision = decide(read_request(flags));
    write_file(flags.out_file, decision_html(decision));
    std::fputs(decision_text(decision).c_str(), stdout);
    fmt::print("\nwritten: {}\n", flags.out_file);
    return 0;
}

}  // namespace

void add_report(CLI::App& app, Command& chosen) {
    CLI::App* const command = app.add_subcommand(
        "report", "Which machine to buy or rent for that model? One page with all its sources");
    const auto flags = std::make_shared<ReportFlags>();
    add_scenario_flag(*command, flags->scenario, [command, &flags = *flags](const auto* planned) {
        take_scenario(*command, flags, planned);
    });
    add_model_flags(*command, flags->model);
    command->get_option("--model")->required(false);
    command->add_option("--machine", flags->machines, "as for predict; may be given several times");
    command->add_option("--cluster", flags->clusters,
                        "MACHINE:GPUS, as in h100-sxm-pcie5:8: add that many of those GPUs with "
                        "everything in their memory; may be given several times");
    command->add_option("--by", flags->aim,
                        "what the best machine has: the least cost per token (cost, default) or "
                        "the highest speed (speed)");
    command->add_flag(
        "--advise", flags->advise,
        "search the best settings for each machine; settings given as flags stay fixed");
    command->add_option("--workers", flags->workers,
                        "number of processes of that search; 0: one per processor (default)");
    add_training_flags(*command, flags->training);
    add_money_flags(*command, flags->money);
    command
        ->add_option("--price", flags->prices,
                     "NAME=DOLLARS an hour for a machine or a whole cluster, electricity included; "
                     "may be given several times")
        ->group("Money and energy");
    command->add_option("--out", flags->out_file, "the HTML file to write")
        ->required()
        ->group("Output");
    command->add_option("--date", flags->date, "date shown on the page; default: today")
        ->group("Output");
    command->callback([&chosen, flags] { chosen = [flags] { return run_report(*flags); }; });
}

}  // namespace sluice

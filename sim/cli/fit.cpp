#include "sim/answers/search/fit.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <memory>

#include "sim/answers/search/machine_choice.h"
#include "sim/base/input_error.h"
#include "sim/cli/commands.h"
#include "sim/cli/money_flags.h"
#include "sim/command_line/scenario.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/search/search_pictures.h"
#include "sim/report/to_svg.h"
#include "sim/specs/machine/machine_profile.h"

namespace sluice {
namespace {

constexpr const char* kMachine = "machine";

struct FitFlags {
    ScenarioFlags scenario;
    CostQuery money;
    std::string find;
    double tokens_per_s = 0;
    bool adjust = false, json = false, csv = false;
    std::optional<std::string> svg_file;
    std::vector<std::string> said;  ///< flags that give what may be the unknown
};

/// With those of the model first, which --find model leaves no use for.
std::vector<std::string> said_flags(const CLI::App& command, const std::string& find) {
    std::vector<const char*> flags = {"--model", "--layers", "--untied"};
    if (find != sought_name(Sought::model))
        flags = {"--layers", "--batch", "--seq", "--host-memory"};
    std::vector<std::string> said;
    for (const char* flag : flags)
        if (command.count(flag) > 0) said.emplace_back(flag);
    return said;
}

/// The unknown must not be given as well; a scenario's own value does not count as given.
void refuse_given_answer(const FitFlags& flags) {
    if (flags.find == sought_name(Sought::model) && !flags.said.empty())
        throw InputError(fmt::format(
            "--find model tries the models of the library, so {} has no effect; leave it out",
            flags.said.front()));
    for (const std::string& flag : flags.said)
        if (flag == "--" + flags.find)
            throw InputError(fmt::format(
                "--find {} searches it, so {} has no effect; leave one out", flags.find, flag));
}

void check_flags(const FitFlags& flags) {
    const bool machine = flags.find == kMachine;
    if (!std::isfinite(flags.tokens_per_s) || flags.tokens_per_s < 0)
        throw InputError(
            fmt::format("--tokens-per-s is {:g}, expected a speed above 0", flags.tokens_per_s));
    if (machine && !flags.scenario.machine.machine.empty())
        throw InputError("--find machine looks through the library; leave --machine out");
    if (!machine && flags.scenario.machine.machine.empty())
        throw InputError("--machine is missing; name one of: sluice machines");
    if (machine)
        refuse_one_price(flags.money,
                         "all machines of the library, and does not go with --find machine; leave "
                         "it out, or give it to sluice cost");
    if (machine && !flags.scenario.machine.settings.empty())
        throw InputError(
            "--set does not go with --find machine: give --host-memory, or a profile of your own "
            "to sluice cost");
    if (flags.find != sought_name(Sought::model) && flags.scenario.model.model.empty())
        throw InputError("--model is missing; name one of: sluice models");
    if (!machine && (flags.csv || flags.svg_file))
        throw InputError("--csv and --svg need --find machine; leave them out");
    refuse_given_answer(flags);
    if (flags.json && flags.csv)
        throw InputError("--json and --csv both go to standard output; give one");
    check_money(flags.money);
}

int run_machines(const FitFlags& flags) {
    const ModelSpec model = read_model_flags(flags.scenario.model);
    const auto& memory = flags.scenario.machine.host_memory;
    const MachineChoices choices = choose_machine(
        model, read_training_flags(flags.scenario.training), flags.tokens_per_s, flags.adjust,
        flags.money,
        memory ? std::optional(parse_memory_size(*memory, "--host-memory")) : std::nullopt);
    if (flags.svg_file) write_file(*flags.svg_file, to_svg(machine_choices_picture(choices)));
    const std::string text = flags.json  ? machine_choices_json(choices)
                             : flags.csv ? machine_choices_csv(choices)
                                         : machine_choices_text(choices);
    std::fputs(text.c_str(), stdout);
    return 0;
}

int run_fit(const FitFlags& flags) {
    if (flags.find == kMachine) {
        check_flags(flags);
        return run_machines(flags);
    }
    FitQuery query;
    query.sought = parse_sought(flags.find);
    check_flags(flags);
    query.tokens_per_s = flags.tokens_per_s;
    query.adjust = flags.adjust;
    const MachineSpec machine = read_machine_flags(flags.scenario.machine);
    const ModelSpec model =
        query.sought == Sought::model ? ModelSpec{} : read_model_flags(flags.scenario.model);
    const FitAnswer answer =
        find_fit(model, machine, read_training_flags(flags.scenario.training), query);
    std::fputs((flags.json ? fit_json(answer) : fit_text(answer)).c_str(), stdout);
    return 0;
}

}  // namespace

void add_fit(CLI::App& app, Command& chosen) {
    CLI::App* const command = app.add_subcommand(
        "fit",
        "The largest model, batch or context; the least memory, link or cores; the cheapest "
        "machine");
    const auto flags = std::make_shared<FitFlags>();
    command
        ->add_option("--find", flags->find,
                     "batch, seq, layers or model: the largest; host-memory, hbm, link or cores: "
                     "the least; machine: the cheapest of the library")
        ->required();
    command->add_option("--tokens-per-s", flags->tokens_per_s,
                        "least tokens/s to accept; default: any speed");
    command->add_flag(
        "--adjust", flags->adjust,
        "if the settings do not fit, also try the nearest ones that change only speed");
    flags->scenario.complete = false;
    add_scenario_flags(*command, flags->scenario);
    add_money_flags(*command, flags->money);
    command->add_flag("--json", flags->json, "as JSON; keys carry units")->group("Output");
    command
        ->add_flag("--csv", flags->csv,
                   "one line per machine that reaches the goal (--find machine)")
        ->group("Output");
    command
        ->add_option("--svg", flags->svg_file,
                     "write tokens/s over $/h and over $ per million tokens (--find machine)")
        ->group("Output");
    command->callback([&chosen, flags, command] {
        flags->said = said_flags(*command, flags->find);
        chosen = [flags] { return run_fit(*flags); };
    });
}

}  // namespace sluice

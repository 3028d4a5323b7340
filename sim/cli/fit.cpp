#include <fmt/format.h>

#include <cmath>
#include <set>

#include "sim/answers/search/find.h"
#include "sim/answers/search/machine_choice.h"
#include "sim/base/input_error.h"
#include "sim/cli/commands.h"
#include "sim/cli/flags.h"
#include "sim/cli/progress.h"
#include "sim/command_line/help.h"
#include "sim/command_line/scenario.h"
#include "sim/plan/step_plan.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/table.h"
#include "sim/report/to_svg.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/scenario/changed_scenario.h"
#include "sim/specs/scenario/option_effect.h"

namespace sluice {
namespace {

constexpr const char* kMachine = "machine";

struct FitFlags {
    ScenarioFlags scenario;
    std::string find;
    double tokens_per_s = 0;
    bool adjust = false, planned_too = false, unpriced_too = false, json = false, csv = false;
    std::optional<std::string> svg_file;
};

/// The unknown must not be given by a flag; a project's own value is ignored.
void refuse_given_answer(const FitFlags& flags) {
    const PlannedScenario& given = flags.scenario.given;
    const bool finds_model = flags.find == sought_name(Sought::model);
    const auto refuse = [&](const std::string& flag, bool is_given) {
        if (is_given && finds_model)
            throw InputError(fmt::format(
                "--find model tries the models of the library, so {} has no effect; leave it out",
                flag));
        if (is_given && flag == "--" + flags.find)
            throw InputError(fmt::format(
                "--find {} searches it, so {} has no effect; leave one out", flags.find, flag));
    };
    if (finds_model) refuse("--model", !given.model.model.empty());
    refuse("--layers", given.model.layers.has_value());
    if (finds_model) {
        refuse("--resize-vocabulary", given.model.vocabulary.has_value());
        return refuse("--untied", given.model.untied);
    }
    refuse("--batch", given.training.contains("batch"));
    refuse("--seq", given.training.contains("seq"));
    refuse("--host-memory", given.machine.host_memory.has_value());
}

void check_machines(const PlannedMachine& asked) {
    if (!asked.machine.empty())
        throw InputError("--find machine looks through the library; leave --machine out");
    if (!asked.settings.empty())
        throw InputError(
            "--set does not go with --find machine: give --host-memory, or a profile of your own "
            "to sluice cost");
}

void check_flags(const FitFlags& flags) {
    if (!std::isfinite(flags.tokens_per_s) || flags.tokens_per_s < 0)
        throw InputError(
            fmt::format("--tokens-per-s is {:g}, expected a speed above 0", flags.tokens_per_s));
    if (flags.find != kMachine && (flags.csv || flags.svg_file))
        throw InputError("--csv and --svg need --find machine; leave them out");
    if (flags.unpriced_too && flags.find != kMachine)
        throw InputError("--unpriced-too needs --find machine; leave it out");
    if (flags.planned_too && flags.find != kMachine && flags.find != sought_name(Sought::model))
        throw InputError("--planned-too needs --find machine or model; leave it out");
    refuse_given_answer(flags);
    check_outputs(flags.json, flags.csv, {{"--svg", flags.svg_file}}, input_files(flags.scenario));
}

int run_machines(const FitFlags& flags, const PlannedScenario& asked) {
    check_machines(asked.machine);
    const CostQuery money = read_money(asked);
    refuse_one_price(money,
                     "all machines of the library, and does not go with --find machine; leave it "
                     "out, or give it to sluice cost");
    const auto& memory = asked.machine.host_memory;
    const std::set<std::string> given = given_options(asked);
    const ModelSpec model = read_model(asked.model);
    const TrainingSpec training = read_training(asked);
    check_model_inputs(model, training);  // else each machine would be refused
    check_effects(model, training);
    const MachineChoices choices = with_progress("fit", [&] {
        return choose_machine(
            model, training, flags.tokens_per_s, flags.adjust, money,
            memory ? std::optional(parse_memory_size(*memory, "--host-memory")) : std::nullopt,
            flags.planned_too, &given, flags.unpriced_too);
    });
    if (flags.svg_file) write_file(*flags.svg_file, to_svg(machine_choices_picture(choices)));
    return print(flags.json  ? machine_choices_json(choices)
                 : flags.csv ? machine_choices_csv(choices)
                             : folded(machine_choices_text(choices)));
}

int run_fit(const FitFlags& flags) {
    const bool finds_machine = flags.find == kMachine;
    const Sought sought = finds_machine ? Sought::model : parse_sought(flags.find);
    check_flags(flags);
    const PlannedScenario asked = asked_scenario(flags.scenario);
    if (finds_machine) return run_machines(flags, asked);
    const MachineSpec machine = read_machine(asked.machine).spec;
    const ModelSpec model = sought == Sought::model ? ModelSpec{} : read_model(asked.model);
    const TrainingSpec training = read_training(asked);
    read_money(asked);  // also refuses mistakes
    const FindAnswer answer = with_progress("fit", [&] {
        return find_limit(model, machine, training,
                          {sought, flags.tokens_per_s, flags.adjust, flags.planned_too});
    });
    return print(flags.json ? find_json(answer) : folded(find_text(answer)));
}

}  // namespace

void add_fit(CLI::App& app, Command& chosen) {
    const auto [command, flags] = add_command(
        app, chosen, "fit",
        "The largest model, batch or context; the least memory, link or cores; the cheapest "
        "machine",
        run_fit);
    add_option(*command, {"--find", "NAME"}, flags->find,
               "batch, seq, layers or model: the largest; host-memory, hbm, link or cores: "
               "the least; machine: the cheapest of the library")
        ->required();
    add_option(*command, {"--tokens-per-s"}, flags->tokens_per_s,
               "least tokens/s to accept; default: any speed");
    command->add_flag(
        "--adjust", flags->adjust,
        "if the settings do not fit, also try the nearest ones that change only speed");
    add_planned_too_flag(*command, flags->planned_too);
    command->add_flag("--unpriced-too", flags->unpriced_too,
                      "also machines without a known price, such as test machines and old ones "
                      "(--find machine)");
    add_scenario_flags(*command, flags->scenario);
    add_money_flags(*command, flags->scenario);
    add_json_flag(*command, flags->json);
    command
        ->add_flag("--csv", flags->csv,
                   "one line per machine that reaches the goal (--find machine)")
        ->group("Output");
    add_option(*command, {"--svg", "FILE", "Output"}, flags->svg_file,
               "write tokens/s over $ an hour and over $ a million tokens (--find machine)");
}

}  // namespace sluice

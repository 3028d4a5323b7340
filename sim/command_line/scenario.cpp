#include "sim/command_line/scenario.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/command_line/help.h"
#include "sim/command_line/program.h"
#include "sim/specs/model/read_model.h"
#include "sim/specs/scenario/changed_scenario.h"
#include "sim/specs/scenario/project_file.h"

namespace sluice {
namespace {

void add_money_flag(CLI::App& command, ScenarioFlags& flags, const MoneyOption& option) {
    flags.money_fields.insert(option.field);
    const auto set = [&given = flags.given.money, &option](const std::string& text) {
        given[option.field] = text;
    };
    command.add_option_function<std::string>(money_flag(option), set)
        ->description(described(money_brief(option), money_help(option)))
        ->type_name(money_value(option))
        ->group("Money and energy");
    if (option.field == std::string_view("ownership"))
        command.add_flag_callback("--buy", [set] { set(ownership_name(Ownership::buy)); })
            ->description("the same as --ownership buy")
            ->group("Money and energy");
}

/// Says so where --untied changes nothing.
PlannedScenario told_of_untied(PlannedScenario asked) {
    if (!asked.model.untied || asked.model.model.empty()) return asked;
    const ModelSpec model = read_model(asked.model.model);
    if (!model.tied_embeddings)
        say_after_success(fmt::format(
            "--untied changes nothing: {} has an output projection of its own", model.name));
    return asked;
}

}  // namespace

void add_scenario_flags(CLI::App& command, ScenarioFlags& flags) {
    add_scenario_flag(command, flags);
    add_model_flags(command, flags.given.model);
    add_machine_flags(command, flags.given.machine);
    add_training_flags(command, flags);
}

void add_scenario_flag(CLI::App& command, ScenarioFlags& flags) {
    add_option(command, {"--scenario", "FILE[:NAME]"}, flags.scenario_file,
               described("a scenario of a project or of a page; flags override it",
                         "FILE or FILE:NAME, a scenario of a project that the planner saved "
                         "or of a page of `sluice report`; flags override it"));
}

void add_model_flags(CLI::App& command, PlannedModel& given) {
    take_models(
        add_option(command, {"--model", "NAME", "Model and machine"}, given.model,
                   described("a name of `sluice models`, a size as 70B, or a config.json",
                             "a name of `sluice models` or its part, a size such as 70B, "
                             "dense:layers=80,hidden=8192,..., or a path to a config.json")));
    add_option(command, {"--layers", "N", "Model and machine"}, given.layers,
               "only the first N layers of the model");
    command
        .add_flag("--untied", given.untied,
                  "add a separate output projection to a model that ties it to the embedding")
        ->group("Model and machine");
    add_option(command, {"--resize-vocabulary", "N", "Model and machine"}, given.vocabulary,
               "the model with embeddings of N tokens, more than it has");
}

CLI::Option* take_models(CLI::Option* option) {
    return option->transform([option](const std::string& text) {
        const std::string model = model_of(text, option->get_name());
        if (const std::string note = model_note(text); !note.empty()) say_after_success(note);
        return model;
    });
}

void add_machine_flags(CLI::App& command, PlannedMachine& given) {
    add_option(command, {"--machine", "NAME", "Model and machine"}, given.machine,
               described("a name of `sluice machines`, or a profile",
                         "a name of `sluice machines`, optionally with a host memory size "
                         "(h200-sxm-pcie5-1.5tb), or a path to a profile"));
    add_option(command, {"--host-memory", "SIZE", "Model and machine"}, given.host_memory,
               "host memory of the machine, as 1.5TB or 128GiB");
    add_option(command, {"--set", "PATH=N", "Model and machine"}, given.settings,
               described("another number of the machine (see `sluice machines show`)",
                         "another value for a number of the machine: PATH=NUMBER (see "
                         "`sluice machines show`)"));
}

void add_training_flags(CLI::App& command, ScenarioFlags& flags) {
    add_option(command, {"--training", "FILE"}, flags.training_file,
               "a JSON file of options of Task, Placement and System; flags override it");
    add_option_flags(command, flags.given.training);
}

void add_option_flags(CLI::App& command, std::map<std::string, std::string>& given,
                      const std::string& note) {
    constexpr const char* kGroups[] = {"Task", "Placement", "System"};
    for (const Option& option : training_options())
        command
            .add_option_function<std::string>(
                option_flag(option),
                [&given, field = option.field](const std::string& text) { given[field] = text; },
                note.empty() ? described(option_brief(option), option_help(option))
                             : described(option.brief, option.help + note))
            ->type_name(option_value(option))
            ->group(kGroups[static_cast<int>(option.group)]);
}

void add_money_flags(CLI::App& command, ScenarioFlags& flags) {
    for (const MoneyOption& option : money_options()) add_money_flag(command, flags, option);
}

void add_quotes_flag(CLI::App& command, ScenarioFlags& flags) {
    add_money_flag(command, flags, money_option("quotes"));
}

void add_owned_flag(CLI::App& command, ScenarioFlags& flags) {
    flags.money_fields.insert("ownership");
    command
        .add_option_function<std::string>(
            "--ownership",
            [&given = flags.given.money](const std::string& text) {
                if (text == ownership_name(Ownership::buy))
                    throw InputError(
                        "--ownership is buy, but this command tells no purchase; ask sluice cost");
                given["ownership"] = text;
            },
            "own: the machine is yours, so that no rent is shown")
        ->type_name("own")
        ->group("Money and energy");
}

PlannedScenario base_scenario(const ScenarioFlags& flags) {
    if (!flags.scenario_file) return {};
    PlannedScenario base = read_planned_scenario(*flags.scenario_file);
    std::erase_if(base.money,
                  [&](const auto& one) { return !flags.money_fields.contains(one.first); });
    return base;
}

PlannedScenario with_flags(PlannedScenario base, const ScenarioFlags& flags) {
    if (flags.training_file) {
        PlannedScenario file;
        file.training =
            parse_option_texts(read_text_file(*flags.training_file), *flags.training_file);
        base = overlaid(std::move(base), file);
    }
    return told_of_untied(overlaid(std::move(base), flags.given));
}

PlannedScenario asked_scenario(const ScenarioFlags& flags) {
    return with_flags(base_scenario(flags), flags);
}

std::vector<std::string> input_files(const ScenarioFlags& flags) {
    std::error_code error;  // of FILE:NAME, which no pipe has
    const auto status = std::filesystem::status(flags.scenario_file.value_or(""), error);
    const bool can_be_read_again =
        !std::filesystem::is_fifo(status) && !std::filesystem::is_character_file(status);
    const PlannedScenario asked =
        can_be_read_again ? overlaid(base_scenario(flags), flags.given) : flags.given;
    std::vector<std::string> out{asked.model.model, asked.machine.machine};
    for (const auto& file : {flags.scenario_file, flags.training_file})
        if (file) out.push_back(*file);
    if (const auto quotes = asked.money.find("quotes"); quotes != asked.money.end())
        out.push_back(quotes->second);
    return out;
}

}  // namespace sluice

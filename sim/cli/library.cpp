// sluice models and sluice machines: the contents of the built-in library.
#include "sim/answers/machines/machine_diff.h"
#include "sim/cli/commands.h"
#include "sim/cli/flags.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

struct ShowFlags {
    std::string name, other;
    bool json = false;
};

int show_model(const ShowFlags& flags) {
    const ModelSpec model = read_model(flags.name, "name");
    return print(flags.json ? model_json(model) : model_text(model));
}

int show_machine(const ShowFlags& flags) {
    const MachineProfile profile = read_machine_profile(flags.name);
    return print(flags.json ? machine_json(profile) : machine_text(profile));
}

int show_diff(const ShowFlags& flags) {
    const MachineDiff diff =
        diff_machines(read_machine_profile(flags.name), read_machine_profile(flags.other));
    return print(flags.json ? machine_diff_json(diff) : machine_diff_text(diff));
}

/// A command that lists what there is, unless a command of its own is named.
CLI::App* add_list(CLI::App& app, Command& chosen, const char* name, const char* description,
                   std::string (*list)(bool json)) {
    CLI::App* const command = app.add_subcommand(name, description);
    const auto json = std::make_shared<bool>(false);
    add_json_flag(*command, *json);
    command->callback([&chosen, command, json, list] {
        if (command->get_subcommands().empty())
            chosen = [json, list] { return print(list(*json)); };
    });
    return command;
}

}  // namespace

void add_models(CLI::App& app, Command& chosen) {
    CLI::App* const models =
        add_list(app, chosen, "models", "The models of the built-in library",
                 [](bool json) { return json ? models_json() : models_text(); });
    const auto [show, flags] =
        add_command(*models, chosen, "show", "One model: its layers and tensors", show_model);
    take_models(show->add_option("name", flags->name, "a model, as --model of predict takes it"))
        ->required();
    add_json_flag(*show, flags->json);
}

void add_machines(CLI::App& app, Command& chosen) {
    CLI::App* const machines =
        add_list(app, chosen, "machines", "The machines of the built-in library",
                 [](bool json) { return json ? machines_json() : machines_text(); });
    const auto [show, shown] = add_command(
        *machines, chosen, "show",
        "One machine: every number with method, date and source, and what is assumed where one is "
        "missing",
        show_machine);
    show->add_option("name", shown->name,
                     "a name, a name with a host memory size, or a path to a profile")
        ->required();
    add_json_flag(*show, shown->json);
    const auto [diff, compared] = add_command(
        *machines, chosen, "diff",
        "Which numbers differ between two machines, or two calibrations of one", show_diff);
    diff->add_option("machine", compared->name, "a name or a path to a profile")->required();
    diff->add_option("other", compared->other, "another")->required();
    add_json_flag(*diff, compared->json);
}

}  // namespace sluice

// sluice models and sluice machines: the contents of the built-in library.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "sim/answers/machines/machine_diff.h"
#include "sim/cli/commands.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

struct ShowFlags {
    std::string a, b;
    bool json = false;
};

/// A command that prints `answer` of its flags.
template <typename Answer>
void add_show(CLI::App& parent, Command& chosen, const char* name, const char* description,
              const char* help_of_name, Answer answer) {
    CLI::App* const command = parent.add_subcommand(name, description);
    const auto flags = std::make_shared<ShowFlags>();
    command->add_option("name", flags->a, help_of_name)->required();
    command->add_flag("--json", flags->json, "as JSON");
    command->callback([&chosen, flags, answer] {
        chosen = [flags, answer] { return std::fputs(answer(*flags).c_str(), stdout), 0; };
    });
}

template <typename List>
CLI::App* add_list(CLI::App& app, Command& chosen, const char* name, const char* description,
                   List list) {
    CLI::App* const command = app.add_subcommand(name, description);
    command->callback([&chosen, command, list] {
        if (command->get_subcommands().empty())
            chosen = [list] { return std::fputs(list().c_str(), stdout), 0; };
    });
    return command;
}

}  // namespace

void add_models(CLI::App& app, Command& chosen) {
    CLI::App* const models =
        add_list(app, chosen, "models", "The models of the built-in library", models_text);
    add_show(*models, chosen, "show", "One model: its layers and tensors",
             "a name, a generic shape or a path to a config.json", [](const ShowFlags& flags) {
                 const ModelSpec model = read_model(flags.a);
                 return flags.json ? model_json(model) : model_text(model);
             });
}

void add_machines(CLI::App& app, Command& chosen) {
    CLI::App* const machines =
        add_list(app, chosen, "machines", "The machines of the built-in library", machines_text);
    add_show(*machines, chosen, "show",
             "One machine: every number with method, date and source, and what is assumed where "
             "one is missing",
             "a name, a name with a host memory size, or a path to a profile",
             [](const ShowFlags& flags) {
                 const MachineProfile profile = read_machine_profile(flags.a);
                 return flags.json ? machine_json(profile) : machine_text(profile);
             });
    CLI::App* const diff = machines->add_subcommand(
        "diff", "What changed between two machines, or two calibrations of one");
    const auto flags = std::make_shared<ShowFlags>();
    diff->add_option("a", flags->a, "a name or a path to a profile")->required();
    diff->add_option("b", flags->b, "another")->required();
    diff->add_flag("--json", flags->json, "as JSON");
    diff->callback([&chosen, flags] {
        chosen = [flags] {
            const MachineDiff found =
                diff_machines(read_machine_profile(flags->a), read_machine_profile(flags->b));
            std::fputs((flags->json ? machine_diff_json(found) : machine_diff_text(found)).c_str(),
                       stdout);
            return 0;
        };
    });
}

}  // namespace sluice

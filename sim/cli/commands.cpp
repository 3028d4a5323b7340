#include "sim/cli/commands.h"

#include <CLI/CLI.hpp>

namespace sluice {

int run_sluice(std::initializer_list<AddCommand> commands, int argc, char** argv) {
    CLI::App app(
        "Predicts whether and how fast a language model trains from host memory on a machine.",
        "sluice");
    app.require_subcommand(1);
    Command command;
    for (const AddCommand add : commands) add(app, command);
    return run_program(app, command, argc, argv);
}

}  // namespace sluice

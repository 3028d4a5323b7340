#include "sim/cli/commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "sim/base/input_error.h"

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

void check_files(std::initializer_list<FileFlag> files) {
    std::map<std::string, const char*> flags;
    for (const auto& [flag, name] : files) {
        if (!name) continue;
        if (name->empty())
            throw InputError(fmt::format("{} needs the name of a file, not an empty one", flag));
        const auto [other, is_new] = flags.try_emplace(*name, flag);
        if (!is_new)
            throw InputError(
                fmt::format("{} and {} are both {}; give two names", other->second, flag, *name));
    }
}

}  // namespace sluice

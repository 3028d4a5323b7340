#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "sim/cli/commands.h"
#include "sim/input_error.h"

namespace {

constexpr int kUserMistake = 2;

/// CLI11's mistakes as the program's own: one sentence, exit status 2. Help is no mistake.
int parse_failed(const CLI::App& app, const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "sluice: {}; see sluice --help\n", error.what());
    return kUserMistake;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app(
        "Predicts whether and how fast a language model trains from host memory on a machine.",
        "sluice");
    app.require_subcommand(1);
    sluice::Command command;
    sluice::add_predict(app, command);
    sluice::add_explain(app, command);
    sluice::add_models(app, command);
    sluice::add_machines(app, command);
    try {
        app.parse(argc, argv);
        return command();
    } catch (const CLI::ParseError& error) {
        return parse_failed(app, error);
    } catch (const sluice::InputError& error) {
        fmt::print(stderr, "sluice: {}\n", error.what());
        return kUserMistake;
    } catch (const std::exception& error) {
        fmt::print(stderr, "sluice: internal error: {}; please report it with the command\n",
                   error.what());
        return 1;
    }
}

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "sim/cli/commands.h"
#include "sim/input_error.h"

namespace {

constexpr int kUserMistake = 2;

/// The deepest subcommand that the words name, and the first word that it does not know.
std::string unknown_word(const CLI::App& app, int argc, char** argv) {
    const CLI::App* at = &app;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const std::string name = word.substr(0, word.find('='));
        std::vector<std::string> known;
        const CLI::App* next = nullptr;
        for (const CLI::App* sub : at->get_subcommands([](const CLI::App*) { return true; })) {
            known.push_back(sub->get_name());
            if (word == sub->get_name()) next = sub;
        }
        if (next != nullptr) {
            at = next;
            continue;
        }
        const bool is_flag = word.starts_with("--");
        if (!is_flag && at != &app) continue;  // a value, or a name
        if (is_flag && at->get_option_no_throw(name) != nullptr) continue;
        if (is_flag) known.clear();
        for (const CLI::Option* option : at->get_options())
            if (is_flag) known.push_back(option->get_name());
        return fmt::format("unknown {} \"{}\"{}", is_flag ? "option" : "command", word,
                           sluice::did_you_mean(word, known));
    }
    return "";
}

/// CLI11's mistakes as the program's own: one sentence, exit status 2. Help is no mistake.
int parse_failed(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
    if (error.get_exit_code() == 0) return app.exit(error);
    const std::string unknown = unknown_word(app, argc, argv);
    fmt::print(stderr, "sluice: {}; see sluice --help\n", unknown.empty() ? error.what() : unknown);
    return kUserMistake;
}

/// Output that did not reach its file (a full disk) is no success.
int after_output(int status) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    fmt::print(stderr, "sluice: standard output cannot be written; is the disk full?\n");
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
        return after_output(command());
    } catch (const CLI::ParseError& error) {
        return parse_failed(app, error, argc, argv);
    } catch (const sluice::InputError& error) {
        fmt::print(stderr, "sluice: {}\n", error.what());
        return kUserMistake;
    } catch (const std::exception& error) {
        fmt::print(stderr, "sluice: internal error: {}; please report it with the command\n",
                   error.what());
        return 1;
    }
}

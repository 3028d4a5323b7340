#include "sim/command_line/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "sim/base/input_error.h"

namespace sluice {
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
        if (!is_flag && (at != &app || known.empty())) continue;  // may be a value or a name
        if (is_flag && at->get_option_no_throw(name) != nullptr) continue;
        if (is_flag) known.clear();
        for (const CLI::Option* option : at->get_options())
            if (is_flag) known.push_back(option->get_name());
        return fmt::format("unknown {} \"{}\"{}", is_flag ? "option" : "command", word,
                           did_you_mean(word, known));
    }
    return "";
}

/// CLI11's mistakes as the program's own: one sentence, exit status 2. Help is no mistake.
int parse_failed(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
    if (error.get_exit_code() == 0) return app.exit(error);
    const std::string unknown = unknown_word(app, argc, argv);
    fmt::print(stderr, "{0}: {1}; see {0} --help\n", app.get_name(),
               unknown.empty() ? error.what() : unknown);
    return kUserMistake;
}

/// Output that did not reach its file (a full disk) is no success.
int after_output(const CLI::App& app, int status) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    fmt::print(stderr, "{}: standard output cannot be written; is the disk full?\n",
               app.get_name());
    return kUserMistake;
}

}  // namespace

int run_program(CLI::App& app, const Command& command, int argc, char** argv) {
    try {
        app.parse(argc, argv);
        return after_output(app, command());
    } catch (const CLI::ParseError& error) {
        return parse_failed(app, error, argc, argv);
    } catch (const InputError& error) {
        fmt::print(stderr, "{}: {}\n", app.get_name(), error.what());
        return kUserMistake;
    } catch (const std::logic_error& error) {
        fmt::print(stderr, "{}: internal error: {}; please report it with the command\n",
                   app.get_name(), error.what());
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}: {}\n", app.get_name(), error.what());
    }
    return 1;
}

}  // namespace sluice

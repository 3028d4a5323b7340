#include "sim/command_line/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

/// A sentence on standard error, if anyone reads it, on one line.
void say(const CLI::App& app, std::string sentence) {
    std::replace(sentence.begin(), sentence.end(), '\n', ' ');
    std::fputs(printable(fmt::format("{}: {}\n", app.get_name(), sentence)).c_str(), stderr);
}

constexpr const char* kNoMemory =
    "the system gives no more memory; free some, or raise the limit of `ulimit -v`";

std::terminate_handler usual_end = nullptr;

/// For exceptions that leave a thread or an actor of the simulation, where nobody catches them.
void end_without_memory() {
    try {
        if (const std::exception_ptr error = std::current_exception())
            std::rethrow_exception(error);
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "sluice: %s\n", kNoMemory);
        std::_Exit(1);
    } catch (...) {
    }
    usual_end();
}

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
    say(app,
        fmt::format("{}; see {} --help", unknown.empty() ? error.what() : unknown, app.get_name()));
    return kUserMistake;
}

/// Output that did not reach its file (a full disk) is no success.
int after_output(const CLI::App& app, int status) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    say(app, "standard output cannot be written; is the disk full?");
    return kUserMistake;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto at = [&](std::size_t k) {
            return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U;
        };
        // U+0080 to U+009F are control characters, too.
        const bool wide = at(i) == 0xC2 && at(i + 1) >= 0x80 && at(i + 1) < 0xA0;
        if (wide || at(i) == 0x7F || (at(i) < 0x20 && at(i) != '\n' && at(i) != '\t'))
            out += fmt::format("\\x{:02x}", wide ? at(++i) : at(i));
        else
            out += text[i];
    }
    return out;
}

int run_program(CLI::App& app, const Command& command, int argc, char** argv) {
    usual_end = std::set_terminate(end_without_memory);
    app.set_version_flag("--version", app.get_name() + " " + SLUICE_VERSION);
    try {
        app.parse(argc, argv);
        return after_output(app, command());
    } catch (const CLI::ParseError& error) {
        return parse_failed(app, error, argc, argv);
    } catch (const InputError& error) {
        say(app, error.what());
        return kUserMistake;
    } catch (const MachineError& error) {
        say(app, error.what());
        return kMachineFailed;
    } catch (const std::logic_error& error) {
        say(app,
            fmt::format("internal error: {}; please report it with the command", error.what()));
    } catch (const std::bad_alloc&) {
        say(app, kNoMemory);
    } catch (const std::system_error& error) {
        say(app, error.code() == std::errc::resource_unavailable_try_again
                     ? "the system starts no more threads; end other programs, or raise the limits "
                       "of `ulimit -u` and `ulimit -v`"
                     : error.what());
    } catch (const std::exception& error) {
        say(app, error.what());
    }
    return 1;
}

}  // namespace sluice

#include "sim/command_line/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "sim/base/input_error.h"
#include "sim/command_line/help.h"

namespace sluice {
namespace {

/// A sentence on standard error, if anyone reads it, on one line.
void say(const CLI::App& app, std::string sentence) {
    std::replace(sentence.begin(), sentence.end(), '\n', ' ');
    std::fputs(
        printable(fmt::format("{}: {}\n", app.get_name(), with_short_words(sentence))).c_str(),
        stderr);
}

constexpr const char* kNoMemory =
    "the system gives no more memory; free some, or raise the limit of `ulimit -v`";

std::terminate_handler usual_end = nullptr;
std::vector<std::string> lines_after_success;

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

/// The commands that the words named, the program first.
std::vector<const CLI::App*> named_commands(const CLI::App& app) {
    std::vector<const CLI::App*> out = {&app};
    while (!out.back()->get_subcommands().empty())
        out.push_back(out.back()->get_subcommands().front());
    return out;
}

std::vector<std::string> names_of_options(const CLI::App& command) {
    std::vector<std::string> out;
    for (const CLI::Option* option : command.get_options()) out.push_back(option->get_name());
    return out;
}

/// "--lr" for --learning-rate.
std::string initials_of(const std::string& option) {
    std::string out = "--";
    for (std::size_t i = 2; i < option.size(); ++i)
        if (option[i] != '-' && option[i - 1] == '-') out += option[i];
    return out;
}

/// The options that the word abbreviates, else the one with the most similar name.
std::string option_hint(const CLI::App& command, const std::string& word) {
    const std::vector<std::string> names = names_of_options(command);
    std::vector<std::string> meant;
    std::ranges::copy_if(names, std::back_inserter(meant), [&](const std::string& name) {
        return word.size() > 3 && initials_of(name) == word;
    });
    return meant.empty() ? did_you_mean(word, names) : may_be_meant(meant);
}

std::vector<std::string> names_of_subcommands(const CLI::App& command) {
    std::vector<std::string> out;
    for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; }))
        out.push_back(sub->get_name());
    return out;
}

/// A word that `command` does not know, with what may be meant.
std::string unknown_word(const CLI::App& command, const std::string& word) {
    if (word.starts_with("-"))
        return fmt::format("unknown option \"{}\"{}", word,
                           option_hint(command, word.substr(0, word.find('='))));
    const std::vector<std::string> commands = names_of_subcommands(command);
    if (!commands.empty())
        return fmt::format("unknown command \"{}\"{}", word, did_you_mean(word, commands));
    return fmt::format("unexpected word \"{}\"; the name of an option begins with --", word);
}

/// An option that is given more often than it may be; "" if none is.
std::string given_again(const CLI::App& command) {
    for (const CLI::Option* option : command.get_options())
        if (option->get_items_expected_max() == 1 && option->count() > 1)
            return fmt::format(
                "{} is given {}, expected once", option->get_name(),
                option->count() == 2 ? "twice" : fmt::format("{} times", option->count()));
    return "";
}

/// An option of `command` that another option or nothing follows in place of its value; "" if there
/// is none.
std::string without_value(const CLI::App& command, int argc, char** argv) {
    const auto option_at = [&](int i) {
        return i < argc && argv[i][0] == '-' ? command.get_option_no_throw(argv[i]) : nullptr;
    };
    for (int i = 1; i < argc; ++i) {
        const CLI::Option* const option = option_at(i);
        if (option == nullptr || option->get_items_expected_min() < 1) continue;
        if (i + 1 == argc || option_at(i + 1) != nullptr)
            return fmt::format("{} is given without a value", option->get_name());
    }
    return "";
}

/// CLI11's mistakes as the program's own: one sentence, exit status 2. Help is no mistake.
int parse_failed(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
    try {
        if (error.get_exit_code() == 0) return app.exit(error);
    } catch (const InputError& wrong) {
        say(app, wrong.what());
        return kUserMistake;
    }
    std::string path, mistake;
    for (const CLI::App* command : named_commands(app)) {
        path += (path.empty() ? "" : " ") + command->get_name();
        mistake = without_value(*command, argc, argv);
        if (mistake.empty()) mistake = given_again(*command);
        if (const auto unknown = command->remaining(); mistake.empty() && !unknown.empty())
            mistake = unknown_word(*command, unknown.front());
        if (!mistake.empty()) break;
    }
    say(app, fmt::format("{}; see {} --help", mistake.empty() ? error.what() : mistake, path));
    return kUserMistake;
}

/// Output that did not reach its file (a full disk) is no success.
int after_output(const CLI::App& app, int status) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) {
        for (const std::string& line : lines_after_success)
            std::fputs(printable(line + "\n").c_str(), stderr);
        return status;
    }
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

void say_after_success(std::string line) { lines_after_success.push_back(std::move(line)); }

int run_program(CLI::App& app, const Command& command, int argc, char** argv) {
    usual_end = std::set_terminate(end_without_memory);
    // A file at the limit of `ulimit -f` then is one that cannot be written.
    std::signal(SIGXFSZ, SIG_IGN);
    app.set_version_flag("--version", app.get_name() + " " + SLUICE_VERSION);
    set_help(app);
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
    } catch (const std::filesystem::filesystem_error& error) {
        say(app, fmt::format("{}: {}; check the path and its permissions", error.path1().string(),
                             error.code().message()));
        return kUserMistake;
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

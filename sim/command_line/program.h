// How does a program of sluice run and end? Messages on standard error; exit status 2 for the
// user's mistakes, 3 for hardware that failed, 1 for what else the machine or we did wrong.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace sluice {

/// The action of a (sub)command after parsing; returns the exit status.
using Command = std::function<int()>;

/// The text with \x1b in place of each control character, which could rewrite what a terminal
/// shows; line ends and tabs stay.
std::string printable(std::string_view text);

/// A line on standard error once the command has succeeded: nothing comes before the sentence of a
/// mistake.
void say_after_success(std::string line);

/// Parses the command line and runs `command`; returns the exit status. Adds --version and
/// --help-all.
int run_program(CLI::App& app, const Command& command, int argc, char** argv);

}  // namespace sluice

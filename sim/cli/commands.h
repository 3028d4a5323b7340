// Which subcommands are there? Each adds itself to the program and has a file of its own.
#pragma once

#include <initializer_list>

#include "sim/command_line/program.h"

namespace sluice {

void add_predict(CLI::App& app, Command& chosen);
void add_explain(CLI::App& app, Command& chosen);
void add_compare(CLI::App& app, Command& chosen);
void add_choose(CLI::App& app, Command& chosen);
void add_advise(CLI::App& app, Command& chosen);
void add_sweep(CLI::App& app, Command& chosen);
void add_models(CLI::App& app, Command& chosen);
void add_machines(CLI::App& app, Command& chosen);
void add_sensitivity(CLI::App& app, Command& chosen);
void add_audit(CLI::App& app, Command& chosen);
void add_fit(CLI::App& app, Command& chosen);
void add_cost(CLI::App& app, Command& chosen);
void add_report(CLI::App& app, Command& chosen);
void add_validate(CLI::App& app, Command& chosen);

/// Adds a subcommand; `chosen` becomes its action if the command line names it.
using AddCommand = void (*)(CLI::App& app, Command& chosen);

/// The program with these subcommands, in this order; returns the exit status.
int run_sluice(std::initializer_list<AddCommand> commands, int argc, char** argv);

}  // namespace sluice

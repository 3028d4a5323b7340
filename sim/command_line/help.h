// Which lines does --help print? Two screens at most: each option in brief, and of the plan's
// options those of the system that is asked for. --help-all prints everything.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

namespace sluice {

inline constexpr std::size_t kHelpColumns = 100, kHelpLines = 100;

/// The description of an option: --help prints `brief`, --help-all prints `whole`.
std::string described(const std::string& brief, const std::string& whole);

struct Flag {
    std::string name;
    std::string value = "N";  ///< its form in --help: N, FILE, {a,b}
    const char* group = "Options";
};

template <typename Value>
CLI::Option* add_option(CLI::App& app, const Flag& flag, Value& value,
                        const std::string& description) {
    return app.add_option(flag.name, value, description)->type_name(flag.value)->group(flag.group);
}

/// Sets --help and --help-all of the program and its subcommands.
void set_help(CLI::App& app);

}  // namespace sluice

// How do kept measurements become a profile? The subcommand fit, of all programs that measure.
#pragma once

#include <string>

#include "sim/command_line/program.h"

namespace sluice {

inline constexpr const char* kBaseHelp =
    "profile (a name of the library or a path) for numbers that are not measured: datasheet peaks, "
    "the price of the GPU, PyTorch's rates; each number keeps its origin";

/// `out`: the profile to write where --out is not given; empty: it must be given.
void add_fit(CLI::App& app, Command& chosen, const std::string& out = "");

}  // namespace sluice

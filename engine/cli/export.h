// Which command line makes a model's folder of a checkpoint: sluice-train export?
#pragma once

#include <string_view>

namespace sluice {

inline constexpr std::string_view kExport = "export";

/// `argv` begins with the program and kExport. The exit status.
int run_export(int argc, char** argv);

}  // namespace sluice

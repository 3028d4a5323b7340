// How does a calibration go: which machine, which cases, what if it is interrupted?
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// As given on the command line.
struct MeasureFlags {
    std::string out;
    std::vector<std::string> only;
    std::optional<std::string> base;
    std::string device = "auto";
    int cpu_threads = 0;
    std::string storage = ".";  ///< folder whose disk is measured
    bool quick = false, resume = false;
};

/// Measures, and writes measurements after each case and the profile at the end. Returns the exit
/// status. Throws InputError.
int measure(const MeasureFlags& flags);

/// The cases, their questions and seconds.
std::string case_list();

/// Today, "2026-11-21".
std::string today();

}  // namespace sluice

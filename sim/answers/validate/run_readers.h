// Which kinds of files hold measured runs, and how is each read?
#pragma once

#include "sim/answers/validate/measured_run.h"
#include "sim/base/json_object.h"

namespace sluice {

/// The report of a measured step. `text` is the text of `root`. Throws InputError.
MeasuredRun read_run_report(const JsonObject& root, std::string_view text,
                            const std::optional<std::string>& model);

/// A table of other systems' steps ("rows"). Those of a system that has no schedule here are left
/// out. Throws InputError.
void read_system_rows(const JsonObject& root, MeasuredRuns& out);

// Larger numbers, or a shorter step, are mistakes in a file.
inline constexpr Seconds kShortestStep = 1e-6;
inline constexpr Seconds kMostSeconds = 86'400;  // a day
inline constexpr std::int64_t kMostSteps = 1'000'000'000;
inline constexpr std::int64_t kMostBytes = 1'000'000'000'000'000;
inline constexpr std::int64_t kMostLayers = 10'000;

}  // namespace sluice

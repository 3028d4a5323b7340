// How do measurements become the checked profile on disk?
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/measurement/measurements.h"
#include "calibrate/profile/make_profile.h"
#include "sim/base/input_error.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {

/// hwprofiles/measurements/NAME.json of the profile hwprofiles/NAME.json.
std::string measurements_file(const std::string& profile_file);

/// Throws InputError if the folder of `file` is missing, or `file` exists and was neither measured
/// nor transferred by this program: its numbers would be lost, unless `base` names it.
void check_profile_file(const std::string& file, const std::optional<std::string>& base);

/// A prediction needs cases that were not measured and are not in the base.
struct MissingCases : InputError {
    MissingCases(const std::string& message, std::vector<std::string> names)
        : InputError(message), cases(std::move(names)) {}
    std::vector<std::string> cases;
};

/// Fits, makes the profile, proves that it can be read and resolved, writes it whole or not at all,
/// and prints the summary and the command that uses it. Throws InputError (or MissingCases); then
/// `file` is unchanged.
void write_profile(const Measurements& measurements, const std::string& file,
                   const std::optional<std::string>& base);

/// A model of the library to predict first: qwen2.5-3b if a step with the default settings fits on
/// a machine with a GPU, else qwen2.5-0.5b.
std::string example_model(const MachineSpec& machine);

/// The same for a finished profile: proves and writes it, prints its assumptions and the command.
/// Throws InputError if `file` is another machine's profile, unless `base` names it.
void write_checked(const std::string& text, const std::string& file,
                   const std::optional<std::string>& base = std::nullopt);

/// Numbers measured here, with their ranges; curves; errors of kernel times and rates under mixed
/// load at held-out rows; missing numbers; warnings. `profile` is what make_profile() made of the
/// two.
std::string summary_text(const MachineProfile& profile, const Measurements& measurements,
                         const MachineFits& fits);

/// How far predictions with a profile can be trusted, and how much of it comes from `source`: the
/// measurements of this machine.
std::string confidence_text(const MachineProfile& profile, const std::string& source);

}  // namespace sluice

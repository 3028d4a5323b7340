// How do measurements become the profile on disk, checked and shown?
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

/// Throws InputError where the folder of `file` is missing, or `file` is there and was neither
/// measured nor transferred by this program: its numbers would be lost, unless `base` names it.
void check_profile_file(const std::string& file, const std::optional<std::string>& base);

/// A prediction needs cases that neither were measured nor have their numbers in a base.
struct MissingCases : InputError {
    MissingCases(const std::string& message, std::vector<std::string> names)
        : InputError(message), cases(std::move(names)) {}
    std::vector<std::string> cases;
};

/// Fits, makes the profile, proves that it can be read and resolved, writes it whole or not at all,
/// and prints the summary and the command that uses it. Throws InputError, MissingCases where it is
/// that; then `file` is untouched.
void write_profile(const Measurements& measurements, const std::string& file,
                   const std::optional<std::string>& base);

/// A model of the library to predict first: qwen2.5-3b where a step with the default settings fits
/// on a machine with a GPU, else qwen2.5-0.5b.
std::string example_model(const MachineSpec& machine);

/// The same for a profile that is ready: proves, writes, prints what it assumes and the command.
/// Throws InputError where `file` is another machine's profile, unless `base` names it.
void write_checked(const std::string& text, const std::string& file,
                   const std::optional<std::string>& base = std::nullopt);

/// Numbers of the profile that were measured here, with their ranges; curves; how well kernel times
/// and rates under mixed load are predicted that were measured but not fitted; what is not there;
/// warnings. `profile` is what make_profile() made of the two.
std::string summary_text(const MachineProfile& profile, const Measurements& measurements,
                         const MachineFits& fits);

}  // namespace sluice

// How do measurements become the profile on disk, checked and shown?
#pragma once

#include <optional>
#include <string>

#include "calibrate/measurement/measurements.h"

namespace sluice {

/// hwprofiles/measurements/NAME.json of the profile hwprofiles/NAME.json.
std::string measurements_file(const std::string& profile_file);

/// Throws InputError where the folder of `file` is missing, or `file` is there and was neither
/// measured nor transferred by this program: its numbers would be lost, unless `base` names it.
void check_profile_file(const std::string& file, const std::optional<std::string>& base);

/// Fits, makes the profile, proves that it can be read and resolved, writes it whole or not at all,
/// and prints the summary and the command that uses it. Throws InputError; then `file` is
/// untouched.
void write_profile(const Measurements& measurements, const std::string& file,
                   const std::optional<std::string>& base);

/// The same for a profile that is ready: proves, writes, prints what it assumes and the command.
void write_checked(const std::string& text, const std::string& file);

}  // namespace sluice

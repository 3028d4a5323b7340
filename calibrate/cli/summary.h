// What was found out about this machine, in a table for people?
#pragma once

#include <string>

#include "calibrate/measurement/measurements.h"
#include "calibrate/profile/machine_fits.h"
#include "sim/specs/machine/machine_profile.h"

namespace sluice {

/// Numbers of the profile that were measured here, with their ranges; curves; how well kernel times
/// and rates under mixed load are predicted that were measured but not fitted; what is not there;
/// warnings. `profile` is what make_profile() made of the two.
std::string summary_text(const MachineProfile& profile, const Measurements& measurements,
                         const MachineFits& fits);

}  // namespace sluice

// Which profile do these measurements make?
#pragma once

#include <optional>
#include <string>

#include "calibrate/measurement/measurements.h"
#include "calibrate/profile/machine_fits.h"

namespace sluice {

/// Another profile of such a machine: what was not measured here is taken from it, each number with
/// its own origin (datasheet peaks, prices, PyTorch's own rates).
struct BaseProfile {
    std::string id;
    std::string text;
};

/// `what` is an id of the library or a path, given with `option`. Throws InputError where it is
/// neither or no profile.
BaseProfile read_base_profile(const std::string& what, const std::string& option);

/// The profile's source of all that was measured: program, date, machine, seconds and file.
std::string calibration_source(const Measurements& measurements);

/// JSON text of the schema "sluice-machine/1". What neither was measured nor stands in `base` is
/// left out, and predictions say what they assume. Same input, same text.
std::string make_profile(const Measurements& measurements, const MachineFits& fits,
                         const std::optional<BaseProfile>& base);

}  // namespace sluice

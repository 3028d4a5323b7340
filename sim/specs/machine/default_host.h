// Is the host memory of a machine its own, or a default for a GPU that is sold without a host?
#pragma once

#include <string>

#include "sim/specs/machine/machine_profile.h"

namespace sluice {

/// "1.54 TB, assumed" if the profile estimates it and the user gives no other; "not known" if the
/// profile has none.
std::string host_memory_words(const MachineProfile& profile);

}  // namespace sluice

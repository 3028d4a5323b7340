// Is the host memory of a machine its own, or a default for a GPU that is sold without a host?
#pragma once

#include <string>

#include "sim/base/format.h"
#include "sim/specs/machine/machine_profile.h"

namespace sluice {

struct HostMemory {
    double bytes = 0;      ///< 0: the profile has none
    bool assumed = false;  ///< the profile estimates it, and the user gives no other
};
HostMemory host_memory_of(const MachineProfile& profile);

/// "1.54 TB, assumed"; "not known".
std::string host_memory_words(const HostMemory& memory, const BytesText& bytes = format_bytes);

/// "1.54 TB of host memory are assumed: ask the provider", of one's own machine "check the
/// machine"; empty if the memory is not assumed.
std::string host_memory_caveat(const HostMemory& memory, bool rented);

}  // namespace sluice

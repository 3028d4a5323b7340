// Which GPU comes next, and what if the machine had it?
#pragma once

#include <optional>
#include <string>

#include "sim/specs/machine/machine_spec.h"

namespace sluice {

/// The other machine's GPU behind this one's link and host.
MachineSpec with_gpu_of(const MachineSpec& machine, const MachineSpec& other);

/// The library's machine whose GPU comes next: of the same maker, released no earlier, no
/// slower and with no less memory, and one of the two by 5% more; of several the one with the least
/// of both. Nothing where there is none.
std::optional<MachineSpec> next_gpu(const MachineSpec& machine, const MachineProfile& profile);

/// A machine of the library; 1 TB of host memory where its profile does not know how much.
std::optional<MachineSpec> resolvable_machine(const std::string& id);

}  // namespace sluice

// With which numbers of the profile (--set PATH=NUMBER) does a machine become a changed one of
// scaled_machine.h? Not always: the profile's rules may change other rates with them.
#pragma once

#include <optional>
#include <vector>

#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// As with_device_memory(), of unified memory as with_host_memory() besides.
std::vector<Setting> device_memory_settings(const MachineSpec& machine, Bytes capacity);
/// As with_faster(part::link): what the profile knows of both ways and of pageable copies is
/// changed alike.
std::vector<Setting> link_settings(const MachineProfile& profile, const MachineSpec& machine,
                                   double factor);
/// As with_cores().
std::vector<Setting> core_settings(double cores);

/// The machine of the profile with these numbers; nothing where it takes none of them.
std::optional<MachineSpec> machine_with_settings(const MachineProfile& profile,
                                                 const std::vector<Setting>& settings);

}  // namespace sluice

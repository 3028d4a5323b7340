// What if the machine had more, or less, of one thing?
#pragma once

#include <optional>
#include <string>

#include "sim/specs/machine/machine_spec.h"

namespace sluice {

MachineSpec with_host_memory(const MachineSpec& machine, Bytes capacity);
MachineSpec with_device_memory(const MachineSpec& machine, Bytes capacity);
/// Copies each way and both ways `factor` times as fast, until host memory limits them; where
/// contention is measured, lanes keep the shares that they had beside each other.
MachineSpec with_link(const MachineSpec& machine, double factor);
/// Host memory `factor` times as fast. The optimizer gains where memory limits it: threads reach at
/// most what one alone does, times their number.
MachineSpec with_host_bandwidth(const MachineSpec& machine, double factor);
/// Optimizer threads for that many cores. Fewer: the machine's rates by threads. More: each further
/// one adds what the last ones did, up to host memory. Other host work stays. Precondition: cores
/// is at least 1.
MachineSpec with_cores(const MachineSpec& machine, double cores);
/// The other machine's GPU behind this one's link and host.
MachineSpec with_gpu_of(const MachineSpec& machine, const MachineSpec& other);

/// The library's machine whose GPU comes next: of the same maker, released no earlier, no
/// slower and with no less memory, and one of the two by 5% more; of several the one with the least
/// of both. Nothing where there is none.
std::optional<MachineSpec> next_gpu(const MachineSpec& machine, const MachineProfile& profile);

/// A machine of the library; 1 TB of host memory where its profile does not know how much.
std::optional<MachineSpec> resolvable_machine(const std::string& id);

}  // namespace sluice

// What if the machine had more, or less, of one thing? The table of machine numbers says which
// rates are faster then.
#pragma once

#include "sim/specs/machine/machine_number.h"

namespace sluice {

/// As the error of a group: all rates of it are off by the factor. Where contention is measured,
/// shares are (see Contention::with_shares). Precondition: the factor is above 0.
void scale_group(MachineSpec& machine, RateGroup group, double factor);

/// The machine with faster parts, a union of bits; a rate that several of them move is multiplied
/// once. With faster host memory alone, the optimizer gains where memory limits it: threads reach
/// at most what one alone does, times their number. A faster link is limited by host memory, also
/// where contention is measured (see Contention::with_faster); copies of pageable memory wait for
/// the processor as long as before.
MachineSpec with_faster(const MachineSpec& machine, Parts parts, double factor);

/// Optimizer threads for that many cores. Fewer: the machine's rates by threads. More: each further
/// one adds what the last ones did, up to host memory. Other host work stays. Precondition: cores
/// is at least 1.
MachineSpec with_cores(const MachineSpec& machine, double cores);
MachineSpec with_host_memory(const MachineSpec& machine, Bytes capacity);
MachineSpec with_device_memory(const MachineSpec& machine, Bytes capacity);

}  // namespace sluice

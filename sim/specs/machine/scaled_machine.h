// How does a machine change if one part is faster or slower? The table of machine numbers says
// which rates follow.
#pragma once

#include "sim/specs/machine/machine_number.h"

namespace sluice {

/// Multiplies all rates of the group by the factor, as the group's error does. Measured contention
/// changes by its shares (see Contention::with_shares). Precondition: the factor is above 0.
void scale_group(MachineSpec& machine, RateGroup group, double factor);

/// The machine with faster parts, given as bits; a rate that depends on several of them is
/// multiplied once. With faster host memory alone, the optimizer gains where memory limits it: all
/// threads reach at most the rate of one thread times their number. With slower host memory
/// (a factor below 1) all threads together reach that part of their best rate. A faster link is
/// limited by host memory, also where contention is measured (see Contention::with_faster). Copies
/// of pageable memory wait for the processor as long as before.
MachineSpec with_faster(const MachineSpec& machine, Parts parts, double factor);

/// The machine with another number of cores for the optimizer. With fewer cores its rate follows
/// the measured curve; with more, each adds what the last measured ones added, up to host memory.
/// Other host work keeps its rate. Precondition: cores is at least 1.
MachineSpec with_cores(const MachineSpec& machine, double cores);
MachineSpec with_host_memory(const MachineSpec& machine, Bytes capacity);
MachineSpec with_device_memory(const MachineSpec& machine, Bytes capacity);

}  // namespace sluice

// What if a group of a machine's rates were all off by one factor?
#pragma once

#include "sim/specs/machine/machine_spec.h"

namespace sluice {

/// Each multiplies the group's rates (see RateRanges). Precondition: the factor is above 0.
void scale_kernels(MachineSpec& machine, double factor);
void scale_optimizer(MachineSpec& machine, double factor);
/// What lanes share, copies both ways too. Where contention is measured, the shares: a lane that
/// keeps little gets `factor` times as much, one that loses little loses 1 / factor as much.
void scale_host_memory(MachineSpec& machine, double factor);
void scale_link(MachineSpec& machine, double factor);
/// Between GPUs, within a node and between nodes.
void scale_interconnect(MachineSpec& machine, double factor);
void scale_host_work(MachineSpec& machine, double factor);
void scale_storage(MachineSpec& machine, double factor);

}  // namespace sluice

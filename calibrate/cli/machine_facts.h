// What does the machine say of itself, before it is measured?
#pragma once

#include "calibrate/cases/nvml.h"
#include "calibrate/measurement/measurements.h"
#include "engine/device/device.h"
#include "engine/machine/host_facts.h"

namespace sluice {

/// `device` was just made: driver and libraries are loaded, as far as they are before work, and no
/// buffer is there yet. `gpu` may be null. Throws InputError where the system does not tell how
/// much memory it has.
MachineFacts read_machine_facts(const Device& device, const HostFacts& host, const Nvml* gpu,
                                int compute_threads);

/// Bytes of device memory that driver and libraries take, once all kernels have run: what is in
/// use, less the `arena` and what other programs had.
double context_bytes(const Device& device, const Nvml* gpu, Bytes arena);

}  // namespace sluice

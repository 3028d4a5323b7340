// Where do the optimizer's threads run, and what of the host stands in the way?
#pragma once

#include "engine/device/device.h"
#include "engine/machine/host_facts.h"
#include "engine/machine/placement.h"
#include "sim/plan/step_plan.h"

namespace sluice {

/// Chooses their CPUs, and prints them and what the host is set up badly for.
Placement place_threads(const HostFacts& host_facts, const DeviceFacts& device,
                        const Peak& host_peak, int optimizer_threads);

}  // namespace sluice

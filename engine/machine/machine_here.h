// Which machine does a plan run on here? Sizes and counts, for plan_step() and check_fit().
#pragma once

#include <optional>
#include <string>

#include "engine/machine/host_facts.h"
#include "sim/base/units.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {

/// The GPU, as its driver describes it.
struct GpuFacts {
    std::string name;
    Bytes memory_capacity = 0;
    Bytes context = 0;  ///< used by driver and libraries before the arena
};

/// A machine without rates: plans can be checked against it, but not predicted. Without a GPU the
/// device's memory is host memory, in one pool. `host_memory` is the user's size, which overrides
/// the system's. Throws InputError if neither is known, or the control group allows less than that.
MachineSpec machine_here(const HostFacts& facts, const std::optional<GpuFacts>& gpu,
                         std::optional<Bytes> host_memory = std::nullopt);

}  // namespace sluice

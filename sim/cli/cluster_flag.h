// Which GPUs does `--cluster h100-sxm-pcie5:8` name?
#pragma once

#include <cstdint>
#include <string>

#include "sim/specs/machine/machine_profile.h"

namespace sluice {

struct ClusterFlag {
    MachineProfile profile;
    std::int64_t gpus = 1;
};

/// Throws InputError if it is not MACHINE:GPUS.
ClusterFlag read_cluster_flag(const std::string& text);

}  // namespace sluice

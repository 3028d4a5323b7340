// What does the process's control group (a container's, a job's) leave it of the machine?
#pragma once

#include <optional>

#include "engine/machine/system_files.h"
#include "sim/base/units.h"

namespace sluice {

struct ControlGroupLimits {
    std::optional<Bytes> memory;  ///< nothing: no limit
    std::optional<double> cpus;   ///< CPUs' worth of time in a second; nothing: no limit
};

/// The tightest limits of the group and of the groups around it that can be seen, in versions 1 and
/// 2 (a machine can have both).
ControlGroupLimits read_control_group_limits(const SystemFiles& files);

}  // namespace sluice

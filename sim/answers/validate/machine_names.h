// Which machine does a name mean? Trainer and calibration name machines alike.
#pragma once

#include <optional>
#include <string>

#include "sim/base/units.h"

namespace sluice {

/// Of "NVIDIA H200, 16 CPUs of Intel(R) Xeon(R) Processor, 135.1 GB".
struct MachineParts {
    std::string gpu;  ///< "no GPU" without one
    double cpus = 0;
    std::string cpu;         ///< empty: not known
    double host_memory = 0;  ///< bytes
};

/// None where the name has not that form, as of profiles that were put together.
std::optional<MachineParts> machine_parts(const std::string& name);

/// GPU, CPUs and, but for rounding and what a system keeps to itself, host memory are the same.
bool same_kind(const MachineParts& a, const MachineParts& b);

}  // namespace sluice

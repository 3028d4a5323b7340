// Which device does a name of the command line mean?
#pragma once

#include <memory>
#include <string>

#include "engine/device/device.h"
#include "engine/machine/host_facts.h"

namespace sluice {

/// `name` is auto (the first GPU, or else the CPU), cpu, cuda or cuda:N. `cpu_threads`: of the
/// CPU's kernels; 0: default_cpu_threads(). Throws InputError where the name is none of them or
/// means a GPU that cannot be used.
std::unique_ptr<Device> make_device(const std::string& name, int cpu_threads,
                                    const HostFacts& host);

/// Half the CPUs: the others are the optimizer's.
int default_cpu_threads(const HostFacts& host);

}  // namespace sluice

#include "calibrate/measurement/same_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/units.h"

namespace sluice {
namespace {

/// What a virtual machine's memory size or a driver's reserve may change by.
constexpr double kSameMemory = 0.03;

std::string text_difference(const char* what, const std::string& before, const std::string& now) {
    if (before == now) return "";
    return fmt::format("{} is \"{}\", was \"{}\"", what, now, before);
}

std::string number_difference(const char* what, double before, double now, double tolerance = 0) {
    if (std::abs(now - before) <= tolerance * before) return "";
    return fmt::format("{} is {:g}, was {:g}", what, now, before);
}

}  // namespace

std::vector<std::string> machine_differences(const MachineFacts& before, const MachineFacts& now) {
    std::vector<std::string> all = {
        text_difference("the GPU", before.gpu_name, now.gpu_name),
        text_difference("the processor", before.cpu_name, now.cpu_name),
        text_difference("the driver", before.driver, now.driver),
        text_difference("the activations' type", before.activations, now.activations),
        number_difference("the number of multiprocessors", before.multiprocessors,
                          now.multiprocessors),
        number_difference("GPU memory (GB)", before.gpu_memory_bytes / kGiga,
                          now.gpu_memory_bytes / kGiga, kSameMemory),
        number_difference("the GPU's power limit (W)", before.gpu_power_limit_w,
                          now.gpu_power_limit_w),
        number_difference("host memory (GB)", before.host_memory_bytes / kGiga,
                          now.host_memory_bytes / kGiga, kSameMemory),
        number_difference("the number of CPUs", before.cpus, now.cpus),
        number_difference("the number of NUMA nodes", before.numa_nodes, now.numa_nodes),
    };
    if (!now.has_gpu)
        all.push_back(
            number_difference("--cpu-threads", before.compute_threads, now.compute_threads));
    std::erase(all, "");
    return all;
}

}  // namespace sluice

#include "sim/specs/machine/default_host.h"

#include <fmt/format.h>

#include "sim/base/units.h"

namespace sluice {

HostMemory host_memory_of(const MachineProfile& profile) {
    const Quantity* const memory = profile.find("host.memory_capacity_gb");
    if (memory == nullptr || !memory->value) return {};
    return {*memory->value * kGiga, memory->method == Method::estimated && !memory->what_if};
}

std::string host_memory_words(const HostMemory& memory, const BytesText& bytes) {
    if (memory.bytes == 0) return "not known";
    return bytes(memory.bytes) + (memory.assumed ? ", assumed" : "");
}

std::string host_memory_caveat(const HostMemory& memory, bool rented) {
    if (!memory.assumed) return "";
    return fmt::format("{} of host memory are assumed: {}", format_bytes(memory.bytes),
                       rented ? "ask the provider" : "check the machine");
}

}  // namespace sluice

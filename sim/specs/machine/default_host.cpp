#include "sim/specs/machine/default_host.h"

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

}  // namespace sluice

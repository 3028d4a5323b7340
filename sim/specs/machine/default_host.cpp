#include "sim/specs/machine/default_host.h"

#include "sim/base/format.h"
#include "sim/base/units.h"

namespace sluice {

std::string host_memory_words(const MachineProfile& profile) {
    const Quantity* const memory = profile.find("host.memory_capacity_gb");
    if (memory == nullptr || !memory->value) return "not known";
    const bool assumed = memory->method == Method::estimated && !memory->what_if;
    return format_bytes(*memory->value * kGiga) + (assumed ? ", assumed" : "");
}

}  // namespace sluice

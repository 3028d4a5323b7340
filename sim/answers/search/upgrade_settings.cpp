#include "sim/answers/search/upgrade_settings.h"

#include <fmt/format.h>

#include "sim/base/input_error.h"
#include "sim/base/json_text.h"

namespace sluice {
namespace {

Setting setting(const char* path, double value) {
    constexpr int kDigits = 7;
    return {path, fmt::format("{}", rounded(value, kDigits))};
}

}  // namespace

std::vector<Setting> device_memory_settings(const MachineSpec& machine, Bytes capacity) {
    const double gb = static_cast<double>(capacity) / kGiga;
    std::vector<Setting> out = {setting("gpu.memory_capacity_gb", gb)};
    const double added = static_cast<double>(capacity - machine.gpu.memory_capacity);
    if (machine.unified_memory)
        out.push_back(setting("host.memory_capacity_gb",
                              (static_cast<double>(machine.host.memory_capacity) + added) / kGiga));
    return out;
}

std::vector<Setting> link_settings(const MachineProfile& profile, const MachineSpec& machine,
                                   double factor) {
    std::vector<Setting> out = {
        setting("link.host_to_device_gb_per_s", factor * machine.link.host_to_device / kGiga),
        setting("link.device_to_host_gb_per_s", factor * machine.link.device_to_host / kGiga)};
    for (const char* path :
         {"link.both_ways_host_to_device_gb_per_s", "link.both_ways_device_to_host_gb_per_s",
          "link.other.pageable_host_to_device_gb_per_s",
          "link.other.pageable_device_to_host_gb_per_s"}) {
        const Quantity* const known = profile.find(path);
        if (known != nullptr && known->value) out.push_back(setting(path, factor * *known->value));
    }
    return out;
}

std::vector<Setting> core_settings(double cores) { return {setting("host.cores", cores)}; }

std::optional<MachineSpec> machine_with_settings(const MachineProfile& profile,
                                                 const std::vector<Setting>& settings) {
    MachineProfile changed = profile;
    try {
        for (const Setting& one : settings) changed.set(one.field, std::stod(one.value));
        return resolve_machine(changed);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

}  // namespace sluice

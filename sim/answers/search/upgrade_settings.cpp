#include "sim/answers/search/upgrade_settings.h"

#include <fmt/format.h>

#include "sim/base/input_error.h"
#include "sim/base/json_text.h"
#include "sim/specs/machine/machine_number.h"

namespace sluice {
namespace {

Setting setting(std::string_view path, double value) {
    constexpr int kDigits = 7;
    return {std::string(path), fmt::format("{}", rounded(value, kDigits))};
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
    std::vector<Setting> out;
    for (const MachineNumber& row : machine_table()) {
        if ((row.parts & part::link) == 0 || row.kind != ValueKind::number) continue;
        const Quantity* const known = profile.find(row.path);
        if (known != nullptr && known->value) {
            out.push_back(setting(row.path, factor * *known->value));
        } else if (row.group == RateGroup::link && row.judges_group) {
            MachineSpec copy = machine;
            out.push_back(setting(
                row.path,
                factor * std::get<double& (*)(MachineSpec&)>(row.member)(copy) / row.in_si(1)));
        }
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

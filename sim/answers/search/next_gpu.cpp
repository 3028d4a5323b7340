#include "sim/answers/search/next_gpu.h"

#include <algorithm>

#include "sim/base/input_error.h"

namespace sluice {

MachineSpec with_gpu_of(const MachineSpec& machine, const MachineSpec& other) {
    MachineSpec out = machine;
    out.gpu = other.gpu;
    out.ranges.tables = other.ranges.tables;
    out.ranges.tables_measured = other.ranges.tables_measured;
    out.ranges.formulas = other.ranges.formulas;
    out.ranges.clock = other.ranges.clock;
    out.confidence = std::max(machine.confidence, other.confidence);
    return out;
}

std::optional<MachineSpec> resolvable_machine(const std::string& id) {
    MachineProfile profile = read_machine_profile(id);
    try {
        return resolve_machine(profile);
    } catch (const InputError&) {
    }
    try {
        profile.set("host.memory_capacity_gb", kKilo);
        return resolve_machine(profile);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

std::optional<MachineSpec> next_gpu(const MachineSpec& machine, const MachineProfile& profile) {
    constexpr double kNoLess = 0.99, kMore = 1.05;
    const auto maker = [](const MachineProfile& p) {
        const std::string name = p.text("gpu.name");
        return name.substr(0, name.find(' '));
    };
    const auto year = [](const MachineProfile& p) {
        const Quantity* const released = p.find("gpu.release_year");
        return released != nullptr ? released->value.value_or(0) : 0;
    };
    const auto product = [](const MachineSpec& m) {
        return m.gpu.gemm_flops_per_s * static_cast<double>(m.gpu.memory_capacity);
    };
    std::optional<MachineSpec> next;
    for (const std::string& id : library_machines()) {
        const MachineProfile candidate = read_machine_profile(id);
        if (maker(candidate) != maker(profile) || year(candidate) < year(profile)) continue;
        const auto other = resolvable_machine(id);
        if (!other || other->unified_memory) continue;
        const double faster = other->gpu.gemm_flops_per_s / machine.gpu.gemm_flops_per_s;
        const double larger = static_cast<double>(other->gpu.memory_capacity) /
                              static_cast<double>(machine.gpu.memory_capacity);
        if (std::min(faster, larger) < kNoLess || std::max(faster, larger) < kMore) continue;
        if (!next || product(*other) < product(*next)) next = other;
    }
    return next;
}

}  // namespace sluice

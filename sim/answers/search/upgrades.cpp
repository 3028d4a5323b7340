#include "sim/answers/search/upgrades.h"

#include <algorithm>

#include "sim/base/input_error.h"
#include "sim/base/json_text.h"
#include "sim/specs/machine/machine_number.h"
#include "sim/specs/machine/scaled_machine.h"

namespace sluice {
namespace {

/// Rounded to the digits that people read and type.
std::pair<std::string, double> number(std::string_view path, double value) {
    constexpr int kDigits = 7;
    return {std::string(path), rounded(value, kDigits)};
}

/// The numbers for with_device_memory(); with unified memory also those for with_host_memory().
Numbers device_memory_numbers(const MachineSpec& machine, Bytes capacity) {
    Numbers out = {number("gpu.memory_capacity_gb", static_cast<double>(capacity) / kGiga)};
    const double added = static_cast<double>(capacity - machine.gpu.memory_capacity);
    if (machine.unified_memory)
        out.push_back(number("host.memory_capacity_gb",
                             (static_cast<double>(machine.host.memory_capacity) + added) / kGiga));
    return out;
}

/// The numbers for with_faster(). They include the profile's rates of both directions and of
/// pageable copies.
Numbers link_numbers(const MachineProfile& profile, const MachineSpec& machine, double factor) {
    Numbers out;
    MachineSpec before = machine, faster = with_faster(machine, part::link, factor);
    for (const MachineNumber& row : machine_table()) {
        if ((row.parts & part::link) == 0 || row.kind != ValueKind::number) continue;
        const auto* const rate = std::get_if<double& (*)(MachineSpec&)>(&row.member);
        const double times = rate != nullptr ? (*rate)(faster) / (*rate)(before) : factor;
        if (const auto known = profile.number(row.path)) {
            out.push_back(number(row.path, times * *known));
        } else if (row.group == RateGroup::link && row.judges_group) {
            MachineSpec copy = machine;
            out.push_back(number(
                row.path,
                factor * std::get<double& (*)(MachineSpec&)>(row.member)(copy) / row.in_si(1)));
        }
    }
    return out;
}

/// The other machine's GPU with this one's link and host.
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

void add_memory(const MachineSpec& machine, const MachineProfile& profile,
                std::vector<MachineChange>& out, std::vector<std::string>& not_possible) {
    constexpr double kMoreGb = 16;
    constexpr auto more = static_cast<Bytes>(kMoreGb * kGiga);
    const Numbers numbers = device_memory_numbers(machine, machine.gpu.memory_capacity + more);
    if (machine.unified_memory) {
        not_possible.emplace_back("link: host and device are one memory");
        const MachineSpec larger = with_host_memory(machine, machine.host.memory_capacity + more);
        if (const std::string words = impossible_memory(larger.host); !words.empty()) {
            not_possible.push_back("16 GB more memory: " + words);
            return;
        }
        out.push_back({"16 GB more memory",
                       [](const MachineSpec& m) {
                           return with_host_memory(
                               with_device_memory(m, m.gpu.memory_capacity + more),
                               m.host.memory_capacity + more);
                       },
                       false, numbers});
        return;
    }
    out.push_back(
        {"16 GB more device memory",
         [](const MachineSpec& m) { return with_device_memory(m, m.gpu.memory_capacity + more); },
         false, numbers});
    out.push_back({"link twice as fast",
                   [](const MachineSpec& m) { return with_faster(m, part::link, 2); }, false,
                   link_numbers(profile, machine, 2)});
}

void add_gpu(const MachineSpec& machine, const MachineProfile& profile, const std::string& name,
             std::vector<MachineChange>& out, std::vector<std::string>& not_possible) {
    const std::optional<MachineSpec> other =
        name.empty() ? next_gpu(machine, profile) : resolvable_machine(name);
    if (machine.unified_memory) {
        not_possible.emplace_back("another GPU: host and device are one memory");
    } else if (!other) {
        not_possible.emplace_back(name.empty()
                                      ? "another GPU: the library has no next one"
                                      : "another GPU: no step can be predicted for " + name);
    } else {
        out.push_back({"the GPU of " + other->id,
                       [other](const MachineSpec& m) { return with_gpu_of(m, *other); }, true});
    }
}

}  // namespace

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
    const auto maker = [](const MachineProfile& p) { return p.text("gpu.maker"); };
    const auto year = [](const MachineProfile& p) {
        return p.number("gpu.release_year").value_or(0);
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

MachineChanges machine_changes(const MachineSpec& machine, const MachineProfile& profile,
                               const std::string& gpu) {
    MachineChanges all;
    std::vector<MachineChange>& out = all.changes;
    add_memory(machine, profile, out, all.not_possible);
    constexpr double kMoreCores = 8;
    out.push_back({"8 more cores",
                   [](const MachineSpec& m) { return with_cores(m, m.host.cores + kMoreCores); },
                   false,
                   {number("host.cores", machine.host.cores + kMoreCores)}});
    out.push_back({"host memory 25% faster",
                   [](const MachineSpec& m) { return with_faster(m, part::host_memory, 1.25); }});
    add_gpu(machine, profile, gpu, out, all.not_possible);
    return all;
}

}  // namespace sluice

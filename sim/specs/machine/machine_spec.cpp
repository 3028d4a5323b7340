#include "sim/specs/machine/machine_spec.h"

#include <algorithm>

#include "sim/base/input_error.h"
#include "sim/specs/machine/spec_reader.h"

namespace sluice {
namespace {

double value_of(const MachineNumber& row, SpecReader& reader, const MachineSpec& so_far) {
    if (const auto* rule = std::get_if<Rule<double>>(&row.rule))
        return (*rule)(row, reader, so_far);
    if (row.required) return row.in_si(reader.required(row.path));
    if (row.h200 > 0) return row.in_si(reader.constant(row));
    return row.in_si(reader.take(row.path).value_or(0));
}

Interpolated curve_of(const MachineNumber& row, SpecReader& reader, const MachineSpec& so_far) {
    if (const auto* rule = std::get_if<Rule<Interpolated>>(&row.rule))
        return (*rule)(row, reader, so_far);
    auto points = reader.take_curve(row.path);
    for (auto& [x, value] : points) value = row.in_si(value);
    return Interpolated(std::move(points));
}

/// Fills the member of one row from the profile, or by the row's rule.
struct Filler {
    const MachineNumber& row;
    SpecReader& reader;
    MachineSpec& machine;

    void operator()(std::monostate) const {}
    void operator()(double& (*member)(MachineSpec&)) const {
        member(machine) = value_of(row, reader, machine);
    }
    void operator()(Bytes& (*member)(MachineSpec&)) const {
        member(machine) = static_cast<Bytes>(value_of(row, reader, machine));
    }
    void operator()(Interpolated& (*member)(MachineSpec&)) const {
        member(machine) = curve_of(row, reader, machine);
    }
    void operator()(Contention& (*member)(MachineSpec&)) const {
        member(machine) = std::get<Rule<Contention>>(row.rule)(row, reader, machine);
    }
    void operator()(KernelTable& (*member)(MachineSpec&)) const {
        if (auto table = reader.take_kernels(row.path)) member(machine) = *std::move(table);
    }
};

}  // namespace

const char* confidence_name(Confidence confidence) {
    switch (confidence) {
        case Confidence::measured:
            return "measured";
        case Confidence::transferred:
            return "transferred";
        case Confidence::datasheet:
            return "datasheet";
    }
    return "";
}

int best_adam_threads(const HostSpec& host) {
    // As sluice-train does: 12 of 16 threads trained fastest on the H200 machine, although 16 are
    // faster when nothing else runs.
    constexpr double kOtherThreads = 4;
    const auto& points = host.adam_bytes_per_s.points();
    const auto best =
        std::max_element(points.begin(), points.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return static_cast<int>(std::min(best->first, std::max(1.0, host.cores - kOtherThreads)));
}

MachineSpec resolve_machine(const MachineProfile& profile) {
    SpecReader reader(profile);
    MachineSpec machine;
    machine.id = profile.id;
    machine.name = profile.name;
    machine.changes = profile.changes;
    machine.unified_memory = profile.flag("host.unified_memory");
    for (const MachineNumber& row : machine_table())
        std::visit(Filler{row, reader, machine}, row.member);
    machine.gpu.clock = resolve_clock(reader);
    machine.host.best_adam_threads = best_adam_threads(machine.host);
    machine.ranges = resolve_ranges(profile);
    reader.finish(machine);
    return machine;
}

}  // namespace sluice

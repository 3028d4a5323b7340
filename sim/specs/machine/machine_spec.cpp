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
    // In the order of the enumeration.
    static constexpr const char* kNames[] = {"measured", "transferred", "datasheet"};
    return kNames[static_cast<std::size_t>(confidence)];
}

void set_adam_threads(HostSpec& host) {
    const auto& points = host.adam_bytes_per_s.points();
    const auto best =
        std::max_element(points.begin(), points.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto at_most = [&](double cores) {
        return static_cast<int>(std::min(best->first, std::max(1.0, cores)));
    };
    host.best_adam_threads = at_most(host.cores - kCpusForLanes);
    host.adam_threads_after_norm = at_most(host.cores);
}

MachineSpec resolve_machine(const MachineProfile& profile) {
    SpecReader reader(profile);
    MachineSpec machine;
    machine.id = profile.id;
    machine.name = profile.name;
    machine.changes = profile.changes;
    machine.gpu_maker = profile.text("gpu.maker");
    machine.gpu_compute_capability = profile.text("gpu.compute_capability");
    machine.unified_memory = profile.flag("host.unified_memory");
    for (const MachineNumber& row : machine_table())
        std::visit(Filler{row, reader, machine}, row.member);
    machine.gpu.clock = resolve_clock(reader);
    const Quantity* const memory = profile.find("host.memory_capacity_gb");
    machine.host.node_memory =
        std::max(machine.host.memory_capacity,
                 static_cast<Bytes>(memory == nullptr ? 0 : memory->replaced.value_or(0) * kGiga));
    set_adam_threads(machine.host);
    machine.ranges = resolve_ranges(profile);
    reader.finish(machine);
    return machine;
}

namespace {

// The least range of a measured rate, however steady its repeats are: the number differs by that
// much between machines of one kind and from day to day.
//
// Kernels: seven H200 of one kind, all at 700 W, ran the same steps in nine pairs. 14 steps on
// three of them differ by 1.4, 0.3 and 1.8% in the mean, a step of 7B in FP8 on the other four by
// 0.4 to 3.4%. The root mean square of the logarithms is 0.019; 5 to 95% is exp(+-1.645 x 0.019).
//
// Four machines of that kind: copies alone differ by 0.1%, in both directions by 1.3%. Adam differs
// by 9% at the same threads of two calibrations; in training it ran at 4.5 to 4.6 Gparam/s, as
// predicted, but at 5.6 on one of them. The standard deviation of the logarithms is 0.10; 5 to 95%
// is exp(+-1.645 x 0.10). Copies under contention differ by 10 to 30% within minutes, where they
// keep half to two thirds of their rate: a fifth of host memory is a tenth of them.
constexpr RateRange kClock = {0.97, 1.03};
constexpr RateRange kLink = {0.98, 1.02};
constexpr RateRange kHost = {0.85, 1.18};
constexpr RateRange kHostMemoryRange = {0.80, 1.20};
// PyTorch's kernels by a measured rate in place of their own times: three steps of MegaTrain on the
// measured H200 were predicted 0.0 to 2.7% too long.
constexpr RateRange kFormulas = {0.95, 1.05};

// Rates that were not measured on the machine.
//
// Kernels: ten published steps of MegaTrain on MI355X (batch 32 to 300) and GH200 (1 k to 512 k
// tokens), nearly all compute, took 1.68, 1.18, 1.08, 1.07, 1.21, 1.11, 1.13, 0.67, 0.91 and 0.91
// times as long as predicted. The root mean square of the logarithms is 0.234; 5 to 95% is
// exp(+-1.645 x 0.234).
constexpr RateRange kUnknownKernels = {0.68, 1.47};
// PCIe reaches 0.82 to 0.91 of its raw rate, the link of a GH200 0.43 to 0.84; this range lies
// between.
constexpr RateRange kUnknownLink = {0.75, 1.10};
// Adam reaches 0.43 (two Xeon 8168) to 0.59 (one Xeon 8480) of the peak of host memory; other host
// work differs between processors by as much.
constexpr RateRange kUnknownHost = {0.58, 1.72};
// Copies in both directions reach 0.40 to 0.81 of the raw rate each on four GPUs with PCIe, where
// 0.76 is assumed. STREAM reaches 0.71 to 0.91 of its peak, where 0.85 is assumed. Lanes that share
// evenly are 12 to 15% off where that was measured.
constexpr RateRange kUnknownHostMemory = {0.65, 1.25};

// Storage reads at 0.53 to 1 of its best rate, by size and number of blocks, on the H200 machine; a
// program with its own block size is between.
constexpr RateRange kStorage = {0.53, 1.05};

// Collectives of as many GPUs of a node as were measured: 361 GB/s on 8 H100 and 368 on 8 H200; on
// four H200 an all-gather reached 0.92 of an all-reduce, which is what was measured.
constexpr RateRange kInterconnect = {0.85, 1.05};
// Else: bus bandwidths of all-gathers, reduce-scatters and an all-reduce of 1 GiB on four H200
// (327, 325, 354 GB/s) and on two (269, 263) are 0.73 to 0.98 of the 361 that are assumed; the link
// itself gives 1.25 times that.
constexpr RateRange kUnknownInterconnect = {0.70, 1.25};
// No step over a network was measured. The rate that NCCL's developers state is 0.94 of the line's.
constexpr RateRange kUnknownNetwork = {0.50, 1.06};

// Wider ranges mean that nothing is known, and a band from them would say no more.
constexpr double kLeastSpread = 0.5, kMostSpread = 2;

RateRange limited(const RateRange& range) {
    return {std::clamp(range.low, kLeastSpread, kMostSpread),
            std::clamp(range.high, kLeastSpread, kMostSpread)};
}

RateRange wider(const RateRange& a, const RateRange& b) {
    return limited({std::min(a.low, b.low), std::max(a.high, b.high)});
}

/// The range of a number or a curve by its origin. `stated`: its own range; `measured`, `unknown`:
/// ranges for its kind.
RateRange by_method(Method method, const RateRange& stated, const RateRange& measured,
                    const RateRange& unknown) {
    if (method == Method::measured) return wider(stated, measured);
    const bool states_range = stated.low < 1 || stated.high > 1;
    // A transferred number's range includes the error of the rule.
    if (method == Method::transferred && states_range) return wider(stated, measured);
    return unknown;
}

RateRange of_number(const MachineProfile& profile, std::string_view path, const RateRange& measured,
                    const RateRange& unknown) {
    const Quantity* quantity = profile.find(path);
    if (quantity == nullptr || !quantity->value) return unknown;
    RateRange stated;
    if (quantity->low && quantity->high)
        stated = {*quantity->low / *quantity->value, *quantity->high / *quantity->value};
    return by_method(quantity->method, stated, measured, unknown);
}

/// Rows of x, rate, low and high: the mean of their ranges.
RateRange stated_by(const Curve& curve) {
    constexpr std::size_t kWithRange = 4;
    RateRange sum{0, 0};
    for (const auto& row : curve.points) {
        if (row.size() < kWithRange) return {};
        sum.low += row[2] / row[1];
        sum.high += row[3] / row[1];
    }
    const auto count = static_cast<double>(curve.points.size());
    return {sum.low / count, sum.high / count};
}

/// The widest range of the numbers or curves that judge the group and that `is_one` accepts.
template <typename Accept>
RateRange of_group(const MachineProfile& profile, RateGroup group, const RateRange& measured,
                   const RateRange& unknown, const Accept& is_one) {
    RateRange range;
    for (const MachineNumber& row : machine_table()) {
        if (!row.judges_group || row.group != group || !is_one(row)) continue;
        if (row.kind == ValueKind::number) {
            range = wider(range, of_number(profile, row.path, measured, unknown));
        } else if (const Curve* curve = profile.find_curve(row.path)) {
            range = wider(range, by_method(curve->method, stated_by(*curve), measured, unknown));
        }
    }
    return range;
}
RateRange of_group(const MachineProfile& profile, RateGroup group, const RateRange& measured,
                   const RateRange& unknown) {
    return of_group(profile, group, measured, unknown, [](const MachineNumber&) { return true; });
}

constexpr const char* kOptimizerRate = "host.adam_gparams_per_s";

bool knows_adam_by_threads(const MachineProfile& profile) {
    return std::any_of(machine_table().begin(), machine_table().end(), [&](const auto& row) {
        return row.judges_group && row.group == RateGroup::optimizer &&
               profile.find_curve(row.path) != nullptr;
    });
}

RateRange of_adam(const MachineProfile& profile) {
    return knows_adam_by_threads(profile)
               ? of_group(profile, RateGroup::optimizer, kHost, kUnknownHost)
               : of_number(profile, kOptimizerRate, kHost, kUnknownHost);
}

/// Copies in both directions are timed together, so their range is the one of contention.
RateRange of_host_memory(const MachineProfile& profile) {
    const Curve* contention = profile.find_curve("host.contention");
    if (contention == nullptr)
        return of_group(profile, RateGroup::host_memory, kHostMemoryRange, kUnknownHostMemory);
    const auto is_of_link = [](const MachineNumber& row) { return (row.parts & part::link) != 0; };
    return by_method(contention->method,
                     of_group(profile, RateGroup::host_memory, {}, {}, is_of_link),
                     kHostMemoryRange, kUnknownHostMemory);
}

/// The range from errors at held-out shapes: a rate is higher by the factor by which a time was
/// predicted too long. With few shapes the range is widened: Student's t over the normal quantile
/// is about 1 + 2 / n (1.77 with 3 shapes, 1.07 with 15).
RateRange of_table(const HeldOutError& error) {
    if (error.shapes == 0) return kFormulas;
    const double middle = (error.low_percent + error.high_percent) / 2;
    const double half = (error.high_percent - error.low_percent) / 2 * (1 + 2.0 / error.shapes);
    return limited({1 + (middle - half) / 100, 1 + (middle + half) / 100});
}

/// The rate of kernels whose origin judges other systems' kernels.
RateRange of_formulas(const MachineProfile& profile) {
    if (profile.kernels.empty())
        return of_number(profile, "kernels.gemm_sustained_tflops", kFormulas, kUnknownKernels);
    const Curve* attention =
        profile.find_curve("kernels.attention_flash_forward_tflops_by_sequence");
    return attention == nullptr ? kUnknownKernels
                                : by_method(attention->method, {}, kFormulas, kUnknownKernels);
}

}  // namespace

RateRanges resolve_ranges(const MachineProfile& profile) {
    RateRanges ranges;
    ranges.tables_measured = true;
    for (const KernelEntry& entry : profile.kernels) {
        ranges.tables[static_cast<std::size_t>(entry.measured.id)] =
            of_table(entry.measured.held_out);
        ranges.tables_measured &= entry.method == Method::measured;
    }
    ranges.formulas = of_formulas(profile);
    ranges.clock = kClock;
    ranges.optimizer = of_adam(profile);
    ranges.optimizer_by_memory = !knows_adam_by_threads(profile) && !profile.number(kOptimizerRate);
    ranges.host_memory = of_host_memory(profile);
    ranges.link = of_group(profile, RateGroup::link, kLink, kUnknownLink);
    ranges.storage = of_group(profile, RateGroup::storage, kStorage, kStorage);
    ranges.interconnect_of_others = kUnknownInterconnect;
    ranges.interconnect =
        profile.find_curve("gpu_interconnect.curve.bus_gb_per_s_by_gpus") == nullptr
            ? kUnknownInterconnect
            : of_group(profile, RateGroup::interconnect, kInterconnect, kUnknownInterconnect);
    ranges.network = of_group(profile, RateGroup::network, kInterconnect, kUnknownNetwork);
    ranges.host_work = of_group(profile, RateGroup::host_work, kHost, kUnknownHost);
    return ranges;
}

}  // namespace sluice

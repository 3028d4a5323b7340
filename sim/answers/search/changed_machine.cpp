#include "sim/answers/search/changed_machine.h"

#include <algorithm>
#include <cmath>

#include "sim/base/input_error.h"
#include "sim/specs/machine/scaled_machine.h"

namespace sluice {
namespace {

using Points = std::vector<std::pair<double, double>>;

Points points_below(const Points& points, double threads) {
    Points out;
    for (const auto& point : points)
        if (point.first < threads) out.push_back(point);
    return out;
}

/// Bytes/s that one more thread adds at the end of the curve; with one point, what a thread has.
double last_gain(const Points& points) {
    const auto& [threads, rate] = points.back();
    if (points.size() == 1) return rate / threads;
    const auto& before = points[points.size() - 2];
    return std::max(0.0, (rate - before.second) / (threads - before.first));
}

Interpolated by_threads(const Interpolated& adam, double cores, double most) {
    const Points& points = adam.points();
    Points out = points_below(points, cores);
    const auto& [last, rate] = points.back();
    const double more =
        std::max(rate, std::min(most, rate + last_gain(points) * std::max(0.0, cores - last)));
    // The curve is constant beyond its last point: one that rises no further needs no other.
    if (cores <= last) {
        out.emplace_back(cores, adam.at(cores));
    } else if (more > rate) {
        out.emplace_back(cores, more);
    }
    return Interpolated(std::move(out));
}

Interpolated with_memory(const Interpolated& adam, double cores, double factor) {
    const Points& points = adam.points();
    const double one_thread = points.front().second / points.front().first;
    const auto rate = [&](double threads) {
        return std::max(adam.at(threads),
                        std::min(factor * adam.at(threads), threads * one_thread));
    };
    Points out;
    for (const auto& point : points) out.emplace_back(point.first, rate(point.first));
    for (double threads = points.back().first + 1; threads <= cores; ++threads) {
        if (rate(threads) <= out.back().second) break;
        out.emplace_back(threads, rate(threads));
    }
    return Interpolated(std::move(out));
}

/// As resolve_machine() chooses them: some cores are left to other work.
void choose_threads(HostSpec& host) {
    constexpr double kOtherThreads = 4;
    const Points& points = host.adam_bytes_per_s.points();
    const auto best =
        std::max_element(points.begin(), points.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    host.best_adam_threads =
        static_cast<int>(std::min(best->first, std::max(1.0, host.cores - kOtherThreads)));
}

template <typename Change>
void change_adam(HostSpec& host, Change change) {
    for (Interpolated* adam :
         {&host.adam_bytes_per_s, &host.adam_8_byte_bytes_per_s, &host.adam_6_byte_bytes_per_s})
        if (!adam->empty()) *adam = change(*adam);
}

}  // namespace

MachineSpec with_host_memory(const MachineSpec& machine, Bytes capacity) {
    MachineSpec out = machine;
    out.host.memory_capacity = capacity;
    return out;
}

MachineSpec with_device_memory(const MachineSpec& machine, Bytes capacity) {
    MachineSpec out = machine;
    out.gpu.memory_capacity = capacity;
    return out;
}

MachineSpec with_link(const MachineSpec& machine, double factor) {
    MachineSpec out = machine;
    scale_link(out, factor);
    out.link.both_ways_total *= factor;
    return out;
}

MachineSpec with_host_bandwidth(const MachineSpec& machine, double factor) {
    MachineSpec out = machine;
    const double both_ways = out.link.both_ways_total;
    scale_host_memory(out, factor);
    out.link.both_ways_total = both_ways;  // the link's own
    HostSpec& host = out.host;
    change_adam(host,
                [&](const Interpolated& adam) { return with_memory(adam, host.cores, factor); });
    for (double* rate : {&host.memory_copy, &host.zero, &host.scale, &host.eager_adam_bytes_per_s})
        *rate *= factor;
    choose_threads(host);
    return out;
}

MachineSpec with_cores(const MachineSpec& machine, double cores) {
    MachineSpec out = machine;
    HostSpec& host = out.host;
    host.cores = cores;
    change_adam(host, [&](const Interpolated& adam) {
        return by_threads(adam, cores, host.dram_bandwidth);
    });
    choose_threads(host);
    return out;
}

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

#include "sim/specs/machine/scaled_machine.h"

#include <algorithm>

namespace sluice {
namespace {

/// Makes the member of a row faster.
struct Scaler {
    MachineSpec& machine;
    double factor;
    bool is_time;

    void operator()(std::monostate) const {}
    void operator()(double& (*member)(MachineSpec&)) const {
        double& value = member(machine);
        value = is_time ? value / factor : value * factor;
    }
    void operator()(Bytes& (*)(MachineSpec&)) const {}  // sizes do not scale
    void operator()(Interpolated& (*member)(MachineSpec&)) const {
        Interpolated& curve = member(machine);
        curve = curve.scaled(is_time ? 1 / factor : factor);
    }
    void operator()(Contention& (*member)(MachineSpec&)) const {
        Contention& contention = member(machine);
        contention = contention.with_shares(factor);
    }
    void operator()(KernelTable& (*member)(MachineSpec&)) const {
        for (double& us : member(machine).trend) us /= factor;
    }
};

void scale(MachineSpec& machine, const MachineNumber& row, double factor) {
    std::visit(Scaler{machine, factor, row.is_time()}, row.member);
}

using Points = std::vector<std::pair<double, double>>;

Interpolated with_memory(const Interpolated& by_threads, double cores, double factor) {
    const auto& points = by_threads.points();
    const double one_thread = points.front().second / points.front().first;
    double most = 0;
    for (const auto& point : points) most = std::max(most, point.second);
    const auto rate = [&](double threads) {
        if (factor < 1) return std::min(by_threads.at(threads), factor * most);
        return std::max(by_threads.at(threads),
                        std::min(factor * by_threads.at(threads), threads * one_thread));
    };
    Points out;
    for (const auto& point : points) out.emplace_back(point.first, rate(point.first));
    for (double threads = points.back().first + 1; threads <= cores; ++threads) {
        if (rate(threads) <= out.back().second) break;
        out.emplace_back(threads, rate(threads));
    }
    return Interpolated(std::move(out));
}

/// Bytes/s that another thread adds at the end of the curve; with a single point, its rate per
/// thread.
double last_gain(const Points& points) {
    const auto& [threads, rate] = points.back();
    if (points.size() == 1) return rate / threads;
    const auto& before = points[points.size() - 2];
    return std::max(0.0, (rate - before.second) / (threads - before.first));
}

Interpolated for_cores(const Interpolated& by_threads, double cores, double most) {
    const Points& points = by_threads.points();
    Points out;
    for (const auto& point : points)
        if (point.first < cores) out.push_back(point);
    const auto& [last, rate] = points.back();
    const double more =
        std::max(rate, std::min(most, rate + last_gain(points) * std::max(0.0, cores - last)));
    // The curve is constant after its last point, so a rate that does not rise needs no further
    // point.
    if (cores <= last) {
        out.emplace_back(cores, by_threads.at(cores));
    } else if (more > rate) {
        out.emplace_back(cores, more);
    }
    return Interpolated(std::move(out));
}

/// Bytes/s of copies from or to pageable memory with a link `factor` times as fast. Only the part
/// of their time that the link takes (a copy from or to pinned memory) becomes shorter. 0: not
/// known.
double pageable_with_link(double pageable, double pinned, double factor) {
    if (pageable == 0 || factor == 1) return pageable;
    return 1 / (1 / std::min(pageable, pinned) - (1 - 1 / factor) / pinned);
}

/// Changes the curves of the optimizer's rate by threads.
template <typename Change>
void change_rates_by_threads(MachineSpec& machine, Change change) {
    for (const MachineNumber& row : machine_table()) {
        if (!row.is_rate_by_threads()) continue;
        Interpolated& curve = std::get<Interpolated& (*)(MachineSpec&)>(row.member)(machine);
        if (!curve.empty()) curve = change(curve);
    }
    set_adam_threads(machine.host);
}

}  // namespace

void scale_group(MachineSpec& machine, RateGroup group, double factor) {
    for (const MachineNumber& row : machine_table())
        if (row.group == group) scale(machine, row, factor);
}

MachineSpec with_faster(const MachineSpec& machine, Parts parts, double factor) {
    MachineSpec out = machine;
    const auto times = [&](Parts one) { return (parts & one) != 0 ? factor : 1; };
    // With faster host memory alone, the processor's threads keep their rates.
    const bool same_threads = (parts & part::processor) == 0;
    for (const MachineNumber& row : machine_table()) {
        if (const auto* contention = std::get_if<Contention& (*)(MachineSpec&)>(&row.member)) {
            (*contention)(out) = (*contention)(out).with_faster(
                times(part::shared_memory), times(part::to_device), times(part::to_host));
        } else if ((row.parts & parts) != 0 && !(same_threads && row.is_rate_by_threads())) {
            scale(out, row, factor);
        }
    }
    out.link.pageable_host_to_device = pageable_with_link(
        machine.link.pageable_host_to_device, machine.link.host_to_device, times(part::to_device));
    out.link.pageable_device_to_host = pageable_with_link(
        machine.link.pageable_device_to_host, machine.link.device_to_host, times(part::to_host));
    if (same_threads && (parts & part::memory_work) != 0)
        change_rates_by_threads(out, [&](const Interpolated& curve) {
            return with_memory(curve, out.host.cores, factor);
        });
    return out;
}

MachineSpec with_cores(const MachineSpec& machine, double cores) {
    MachineSpec out = machine;
    out.host.cores = cores;
    change_rates_by_threads(out, [&](const Interpolated& curve) {
        return for_cores(curve, cores, out.host.dram_bandwidth);
    });
    return out;
}

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

}  // namespace sluice

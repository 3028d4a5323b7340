#include "sim/simulate/shared_rates.h"

#include <algorithm>
#include <limits>

#include "sim/specs/machine/topology.h"

namespace sluice {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

}  // namespace

SharedRates::SharedRates(const MachineSpec& machine, int devices, std::int64_t state_bytes)
    : devices_(devices), contention_(machine.host.contention_of(state_bytes)), units_(devices, 1) {
    const Topology topology = topology_of(machine, devices);
    const double weight = machine.host.copy_weight;
    // Rates under load say how the host's memory and the link of one device limit.
    const bool one_measured = measured_under_load() && devices == 1;
    for (const Topology::OfMemory& one : topology.memories) {
        const bool is_host = one.memory == Tier::host;
        const double capacity = one.bandwidth * (is_host ? 1 : weight);
        const bool limits = one.bandwidth > 0 && !(is_host && one_measured);
        resources_.push_back({"memory of " + memory_name(one.memory),
                              {},
                              limits ? capacity : kNoLimit,
                              limits ? capacity : kNoLimit});
    }
    for (const Topology::Link& one : topology.links) {
        const bool limits = !measured_under_load();
        resources_.push_back({"link of " + memory_name(one.device),
                              {},
                              limits ? weight * one.both_ways : kNoLimit,
                              limits ? weight * std::max(one.to_device, one.to_host) : kNoLimit});
    }
    for (std::size_t i = 0; i < units_.size(); ++i) {
        const Lane lane = Lane::at(i);
        const std::optional<LaneEnds> ends = ends_of(lane);
        if (!ends) continue;
        const bool copies = ends->cross(Tier::host) && ends->cross(Tier::device);
        if (copies || (ends->cross(Tier::device) && !machine.unified_memory)) units_[lane] = weight;
        const Topology::Route route = topology.route(ends->from, ends->to);
        for (const std::size_t memory : route.memories)
            resources_[memory].crossed_by.push_back(lane);
        for (const std::size_t link : route.links)
            resources_[topology.memories.size() + link].crossed_by.push_back(lane);
    }
}

void SharedRates::under_load(const ByLane<double>& alone, ByLane<double>& rates) const {
    rates = alone;
    if (contention_.empty()) return;
    double work = 0;
    for (int device = 0; device < devices_; ++device)
        work += alone[{Work::optimizer, device}] + alone[{Work::host, device}];
    // No flow is faster than alone.
    double share_of_work = 1;
    for (int device = 0; device < devices_; ++device) {
        const auto on = [device](Work of) { return Lane(of, device); };
        const auto active = [&](Work of) { return alone[on(of)] > 0; };
        const LaneShares shares =
            contention_.shares({active(Work::compute), active(Work::host_to_device),
                                active(Work::device_to_host), work});
        rates[on(Work::compute)] *= std::min(1.0, shares.compute);
        rates[on(Work::host_to_device)] *= std::min(1.0, shares.in);
        rates[on(Work::device_to_host)] *= std::min(1.0, shares.out);
        share_of_work = std::min(share_of_work, shares.work);
    }
    for (int device = 0; device < devices_; ++device)
        for (const Work of : {Work::optimizer, Work::host}) rates[{of, device}] *= share_of_work;
}

/// The resource that leaves each of its flows the least gives all of them the same; those that
/// need less keep their rates.
void SharedRates::share(const ByLane<double>& alone, ByLane<double>& rates) const {
    under_load(alone, rates);
    ByLane<char> fixed(devices_, 0);
    const auto wanted = [&](Lane lane) { return rates[lane] * units_[lane]; };
    while (true) {
        const SharedResource* tightest = nullptr;
        double least = kNoLimit;
        for (const SharedResource& one : resources_) {
            double taken = 0, more = 0;
            int flows = 0, open = 0;
            for (const Lane lane : one.crossed_by) {
                if (rates[lane] == 0) continue;
                ++flows;
                if (fixed[lane])
                    taken += wanted(lane);
                else
                    ++open, more += wanted(lane);
            }
            const double left = (flows > 1 ? one.capacity : one.alone) - taken;
            if (open > 0 && more > left && left / open < least)
                tightest = &one, least = left / open;
        }
        if (tightest == nullptr) return;
        bool any_less = false;
        for (const Lane lane : tightest->crossed_by)
            if (!fixed[lane] && rates[lane] > 0 && wanted(lane) <= least)
                fixed[lane] = any_less = true;
        if (any_less) continue;
        for (const Lane lane : tightest->crossed_by)
            if (!fixed[lane] && rates[lane] > 0)
                rates[lane] = least / units_[lane], fixed[lane] = true;
    }
}

}  // namespace sluice

#include "sim/simulate/platform.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <exception>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/input_error.h"
#include "sim/simulate/simgrid.h"

namespace sluice {
namespace sg = simgrid::s4u;
namespace {

constexpr double kUnlimited = 1e18;  // bytes/s

sg::Engine& engine() {
    // CM02 without TCP window and cross-traffic: flows get a link's whole capacity (SimGrid's
    // default reduces it). Only the first call's arguments count; the engine lives as long as the
    // process.
    static sg::Engine* const the_engine = [] {
        static const char* arguments[] = {"sluice",
                                          "--cfg=network/model:CM02",
                                          "--cfg=network/TCP-gamma:0",
                                          "--cfg=network/crosstraffic:0",
                                          "--log=root.thres:critical",
#ifdef __SANITIZE_ADDRESS__  // SimGrid only follows the stacks of threads
                                          "--cfg=contexts/factory:thread",
#endif
                                          nullptr};
        int count = static_cast<int>(std::size(arguments)) - 1;
        const auto on_interrupt = std::signal(SIGINT, SIG_DFL);
        const auto on_terminate = std::get_terminate();
        sg::Engine* const made = new sg::Engine(&count, const_cast<char**>(arguments));
        // SimGrid takes both, and would end without a sentence.
        std::signal(SIGINT, on_interrupt);
        std::set_terminate(on_terminate);
        return made;
    }();
    return *the_engine;
}

/// SimGrid ends the process where it cannot allocate an actor's stack. Throws std::bad_alloc if
/// those of a device's lanes have no room.
void refuse_little_memory() {
    constexpr std::size_t kStack = std::size_t{8} << 20;  // contexts/stack-size
    std::vector<std::unique_ptr<char[]>> stacks;
    for (std::size_t work = 0; work < kWorkCount; ++work)
        stacks.emplace_back(new char[kStack])[0] = 1;  // written, so that it is not left out
}

}  // namespace

Platform& Platform::instance() {
    static Platform* const platform = new Platform;
    return *platform;
}

Platform::Platform() {
    sg::Engine& all = engine();
    refuse_little_memory();
    sg::NetZone& zone = simgrid_names::add_zone(all, "machine");
    for (const bool unified : {false, true}) add_shape(zone, shapes_[unified ? 1 : 0], unified);
    zone.seal();
}

void Platform::add_shape(sg::NetZone& zone, Shape& shape, bool unified) {
    MachineSpec machine;  // all of its memories limit
    machine.unified_memory = unified;
    machine.gpu.memory_bandwidth = machine.host.dram_bandwidth = 1;
    const Topology topology = topology_of(machine, kMostDevices);
    const auto link = [&](const std::string& name) {
        return simgrid_names::add_link(zone, fmt::format("{}{}", name, unified ? " (unified)" : ""))
            ->set_latency(0);
    };
    for (const Topology::OfMemory& one : topology.memories)
        shape.memories.push_back(link("memory of " + memory_name(one.memory)));
    shape.links.resize(topology.links.size());
    for (std::size_t i = 0; i < topology.links.size(); ++i) {
        BothWays& both = shape.links[i];
        both.link = link("link of " + memory_name(topology.links[i].device));
        // SimGrid bounds each flow by the bandwidth, which is therefore that of one direction.
        both.link->set_sharing_policy(
            sg::Link::SharingPolicy::NONLINEAR,
            [&both](double one_way, int flows) { return flows > 1 ? both.total : one_way; });
    }
    for (std::size_t i = 0; i < shape.routes.size(); ++i) {
        const Lane lane = Lane::at(i);
        Route& route = shape.routes[lane];
        route.rate = link(lane_name(lane));
        route.from = simgrid_names::add_host(zone, route.rate->get_name() + " from");
        route.to = simgrid_names::add_host(zone, route.rate->get_name() + " to");
        std::vector<sg::LinkInRoute> crossed = {sg::LinkInRoute(route.rate)};
        if (const std::optional<LaneEnds> ends = ends_of(lane)) {
            const Topology::Route through = topology.route(ends->from, ends->to);
            for (const std::size_t memory : through.memories)
                crossed.emplace_back(shape.memories[memory]);
            for (const std::size_t one : through.links) crossed.emplace_back(shape.links[one].link);
        }
        simgrid_names::add_route(zone, *route.from, *route.to, crossed);
    }
}

sg::Host* Platform::actors_host() const { return shapes_[0].routes[Work::compute].from; }

void Platform::set_machine(const MachineSpec& machine, int devices, std::int64_t state_bytes) {
    if (devices > kMostDevices)
        throw InternalError(fmt::format("a plan has lanes on {} devices, at most {} are simulated",
                                        devices, kMostDevices));
    contention_ = machine.host.contention_of(state_bytes);
    unified_ = machine.unified_memory;
    devices_ = devices;
    copy_weight_ = machine.host.copy_weight;
    const bool measured = !contention_.empty();
    const Topology topology = topology_of(machine, kMostDevices);
    for (std::size_t i = 0; i < topology.memories.size(); ++i) {
        const Topology::OfMemory& one = topology.memories[i];
        if (one.bandwidth == 0) continue;
        const bool is_host = one.memory == Tier::host;
        const bool limits = !is_host || !measured || devices > 1;
        // Flows of devices are counted in units of 1/copy_weight byte.
        const double capacity = one.bandwidth * (is_host ? 1 : copy_weight_);
        shape().memories[i]->set_bandwidth(limits ? capacity : kUnlimited);
    }
    for (std::size_t i = 0; i < topology.links.size(); ++i) {
        const Topology::Link& one = topology.links[i];
        BothWays& both = shape().links[i];
        both.total = measured ? kUnlimited : one.both_ways * copy_weight_;
        both.link->set_bandwidth(measured ? kUnlimited
                                          : std::max(one.to_device, one.to_host) * copy_weight_);
    }
}

double Platform::units_per_byte(Lane lane) const {
    const std::optional<LaneEnds> ends = ends_of(lane);
    const bool on_device = ends && ends->cross(Tier::device);
    return on_device && (ends->cross(Tier::host) || !unified_) ? copy_weight_ : 1;
}

void Platform::pass(Lane lane, const FlowDemand& demand) {
    Route& route = this->route(lane);
    // SimGrid's payload is a whole number; the rate is scaled with it, so that alone the flow takes
    // exactly demand.alone().
    const double payload = std::max(1.0, std::round(demand.bytes * units_per_byte(lane)));
    route.units = payload / demand.alone() / demand.rate;
    // A flow never gets more than its links had at its start, so these start with the most that it
    // can use.
    set_rate(route, demand.rate * route.units);
    const sg::CommPtr flow = sg::Comm::sendto_init();
    flow->set_payload_size(static_cast<std::uint64_t>(payload));
    flow->set_source(route.from);
    flow->set_destination(route.to);  // starts the flow
    route.alone = demand.rate;
    share_rates();
    flow->wait();
    route.alone = 0;
    share_rates();
}

void Platform::share_rates() {
    if (contention_.empty()) return;
    // Other actors run while a bandwidth is set, so the right value has to be computed again.
    while (const auto wrong = wrong_rate()) set_rate(route(wrong->first), wrong->second);
}

std::optional<std::pair<Lane, double>> Platform::wrong_rate() {
    const auto alone = [this](Lane lane) { return route(lane).alone; };
    double work = 0;
    for (int device = 0; device < devices_; ++device)
        work += alone({Work::optimizer, device}) + alone({Work::host, device});
    for (int device = 0; device < devices_; ++device) {
        const auto on = [device](Work of) { return Lane(of, device); };
        const LaneShares shares =
            contention_.shares({alone(on(Work::compute)) > 0, alone(on(Work::host_to_device)) > 0,
                                alone(on(Work::device_to_host)) > 0, work});
        const std::pair<Lane, double> of_lanes[] = {{on(Work::host_to_device), shares.in},
                                                    {on(Work::compute), shares.compute},
                                                    {on(Work::device_to_host), shares.out},
                                                    {on(Work::optimizer), shares.work},
                                                    {on(Work::host), shares.work}};
        for (const auto& [lane, share] : of_lanes) {
            const Route& r = route(lane);
            const double rate = r.alone * r.units * share;
            if (r.alone > 0 && rate != r.rate_now) return std::pair(lane, rate);
        }
    }
    return std::nullopt;
}

void Platform::set_rate(Route& route, double rate) {
    if (rate == route.rate_now) return;  // equal layers follow each other, so it rarely changes
    route.rate_now = rate;
    route.rate->set_bandwidth(rate);
}

}  // namespace sluice

#include "sim/simulate/platform.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <exception>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

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
/// those of all lanes have no room.
void refuse_little_memory() {
    constexpr std::size_t kStack = std::size_t{8} << 20;  // contexts/stack-size
    std::vector<std::unique_ptr<char[]>> stacks;
    for (int lane = 0; lane < kLaneCount; ++lane)
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
    const auto link = [&zone](const std::string& name) {
        return simgrid_names::add_link(zone, name)->set_latency(0);
    };
    both_ways_ = link("both_ways");
    // Limits only when both directions run: one alone may be faster than both together (GH200: 380
    // against 368 GB/s). SimGrid bounds each flow by the bandwidth, which is therefore that of one
    // direction.
    both_ways_->set_sharing_policy(
        sg::Link::SharingPolicy::NONLINEAR,
        [this](double one_way, int flows) { return flows > 1 ? both_ways_total_ : one_way; });
    dram_ = link("dram");
    hbm_ = link("hbm");
    using Links = std::vector<sg::Link*>;
    const Links copies = {dram_, both_ways_, hbm_}, copies_unified = {dram_, both_ways_};
    const Links shared[2][kLaneCount] = {
        {copies, {hbm_}, copies, {dram_}, {dram_}, {dram_}, {dram_}, {hbm_}, {}},
        {copies_unified, {dram_}, copies_unified, {dram_}, {dram_}, {dram_}, {dram_}, {dram_}, {}}};
    for (int unified = 0; unified < 2; ++unified) {
        for (int lane = 0; lane < kLaneCount; ++lane) {
            const std::string name =
                std::string(lane_name(static_cast<Lane>(lane))) + std::to_string(unified);
            Route& route = routes_[unified][lane];
            route.from = simgrid_names::add_host(zone, name + ".from");
            route.to = simgrid_names::add_host(zone, name + ".to");
            route.rate = link(name);
            std::vector<sg::LinkInRoute> links = {sg::LinkInRoute(route.rate)};
            for (sg::Link* const crossed : shared[unified][lane]) links.emplace_back(crossed);
            simgrid_names::add_route(zone, *route.from, *route.to, links);
        }
    }
    zone.seal();
}

void Platform::set_machine(const MachineSpec& machine, std::int64_t state_bytes) {
    contention_ = machine.host.contention_of(state_bytes);
    unified_ = machine.unified_memory;
    copy_weight_ = machine.host.copy_weight;
    if (!contention_.empty()) {
        both_ways_total_ = kUnlimited;
        both_ways_->set_bandwidth(kUnlimited);
        dram_->set_bandwidth(kUnlimited);
    } else {
        both_ways_total_ = machine.link.both_ways_total * copy_weight_;
        both_ways_->set_bandwidth(
            std::max(machine.link.host_to_device, machine.link.device_to_host) * copy_weight_);
        dram_->set_bandwidth(machine.host.dram_bandwidth);
    }
    hbm_->set_bandwidth(machine.gpu.memory_bandwidth * copy_weight_);
}

double Platform::units_per_byte(Lane lane) const {
    const bool over_link = lane == Lane::host_to_device || lane == Lane::device_to_host;
    const bool on_device = lane == Lane::compute || lane == Lane::interconnect;
    return over_link || (on_device && !unified_) ? copy_weight_ : 1;
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
    const ActiveLanes active = {alone(Lane::compute) > 0, alone(Lane::host_to_device) > 0,
                                alone(Lane::device_to_host) > 0,
                                alone(Lane::optimizer) + alone(Lane::host)};
    const LaneShares shares = contention_.shares(active);
    const std::pair<Lane, double> of_lanes[] = {{Lane::host_to_device, shares.in},
                                                {Lane::compute, shares.compute},
                                                {Lane::device_to_host, shares.out},
                                                {Lane::optimizer, shares.work},
                                                {Lane::host, shares.work}};
    for (const auto& [lane, share] : of_lanes) {
        const Route& r = route(lane);
        const double rate = r.alone * r.units * share;
        if (r.alone > 0 && rate != r.rate_now) return std::pair(lane, rate);
    }
    return std::nullopt;
}

void Platform::set_rate(Route& route, double rate) {
    if (rate == route.rate_now) return;  // equal layers follow each other, so it rarely changes
    route.rate_now = rate;
    route.rate->set_bandwidth(rate);
}

}  // namespace sluice

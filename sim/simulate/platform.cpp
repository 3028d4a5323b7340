#include "sim/simulate/platform.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

/// SimGrid takes over what the process does at these, without its own sentences.
class KeptHandlers {
  public:
    KeptHandlers() {
        for (std::size_t i = 0; i < kSignals.size(); ++i)
            sigaction(kSignals[i], nullptr, &actions_[i]);
    }
    ~KeptHandlers() {
        for (std::size_t i = 0; i < kSignals.size(); ++i)
            sigaction(kSignals[i], &actions_[i], nullptr);
        std::set_terminate(terminate_);
    }
    KeptHandlers(const KeptHandlers&) = delete;
    KeptHandlers& operator=(const KeptHandlers&) = delete;

  private:
    static constexpr std::array kSignals = {SIGINT, SIGBUS, SIGSEGV};
    std::array<struct sigaction, kSignals.size()> actions_{};
    std::terminate_handler terminate_ = std::get_terminate();
};

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
        const KeptHandlers kept;
        return new sg::Engine(&count, const_cast<char**>(arguments));
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
    MachineSpec machine;
    machine.unified_memory = unified;
    machine.gpu.memory_bandwidth = machine.host.dram_bandwidth = 1;  // all memories limit
    const SharedRates sharing(machine, kMostDevices, 0);
    const auto link = [&](const std::string& name) {
        return simgrid_names::add_link(zone, fmt::format("{}{}", name, unified ? " (unified)" : ""))
            ->set_latency(0);
    };
    ByLane<std::vector<sg::LinkInRoute>> crossed(kMostDevices);
    for (std::size_t i = 0; i < crossed.size(); ++i) {
        Route& route = shape.routes[Lane::at(i)];
        route.rate = link(lane_name(Lane::at(i)));
        crossed[Lane::at(i)].emplace_back(route.rate);
    }
    shape.resources.resize(sharing.resources().size());
    for (std::size_t i = 0; i < shape.resources.size(); ++i) {
        Resource& one = shape.resources[i];
        one.link = link(sharing.resources()[i].name);
        // SimGrid bounds each flow by the bandwidth, which is therefore that of one flow.
        one.link->set_sharing_policy(
            sg::Link::SharingPolicy::NONLINEAR,
            [&one](double alone, int flows) { return flows > 1 ? one.capacity : alone; });
        for (const Lane lane : sharing.resources()[i].crossed_by)
            crossed[lane].emplace_back(one.link);
    }
    for (std::size_t i = 0; i < crossed.size(); ++i) {
        Route& route = shape.routes[Lane::at(i)];
        route.from = simgrid_names::add_host(zone, route.rate->get_name() + " from");
        route.to = simgrid_names::add_host(zone, route.rate->get_name() + " to");
        simgrid_names::add_route(zone, *route.from, *route.to, crossed[Lane::at(i)]);
    }
}

sg::Host* Platform::actors_host() const { return shapes_[0].routes[Work::compute].from; }

void Platform::set_machine(const MachineSpec& machine, int devices, std::int64_t state_bytes) {
    shape_ = &shapes_[machine.unified_memory ? 1 : 0];
    alone_ = rates_ = ByLane<double>(devices, 0);
    sharing_.emplace(machine, devices, state_bytes);
    const std::vector<SharedResource>& of = sharing_->resources();
    // As in the shape: the memories of devices, the host's, the disk's, then the links.
    for (std::size_t i = 0; i < of.size(); ++i) {
        const std::size_t others = kMostDevices - static_cast<std::size_t>(devices);
        Resource& one = shape_->resources[i < static_cast<std::size_t>(devices) ? i : i + others];
        one.capacity = std::min(kUnlimited, of[i].capacity);
        one.link->set_bandwidth(std::min(kUnlimited, of[i].alone));
    }
}

void Platform::pass(Lane lane, const FlowDemand& demand) {
    Route& route = this->route(lane);
    // SimGrid's payload is a whole number; the rate is scaled with it, so that alone the flow takes
    // exactly demand.alone().
    const double payload = std::max(1.0, std::round(demand.bytes * sharing_->units(lane)));
    route.units = payload / demand.alone() / demand.rate;
    // A flow never gets more than its links had at its start, so these start with the most that it
    // can use.
    set_rate(route, demand.rate * route.units);
    const sg::CommPtr flow = sg::Comm::sendto_init();
    flow->set_payload_size(static_cast<std::uint64_t>(payload));
    flow->set_source(route.from);
    flow->set_destination(route.to);  // starts the flow
    alone_[lane] = demand.rate;
    share_rates();
    flow->wait();
    alone_[lane] = 0;
    share_rates();
}

void Platform::share_rates() {
    if (!sharing_->measured_under_load()) return;
    // Other actors run while a bandwidth is set, so the right value has to be computed again.
    while (const auto wrong = wrong_rate()) set_rate(route(wrong->first), wrong->second);
}

std::optional<std::pair<Lane, double>> Platform::wrong_rate() {
    sharing_->under_load(alone_, rates_);
    for (std::size_t i = 0; i < rates_.size(); ++i) {
        const Lane lane = Lane::at(i);
        const double rate = rates_[lane] * route(lane).units;
        if (rate > 0 && rate != route(lane).rate_now) return std::pair(lane, rate);
    }
    return std::nullopt;
}

void Platform::set_rate(Route& route, double rate) {
    if (rate == route.rate_now) return;  // equal layers follow each other, so it rarely changes
    route.rate_now = rate;
    route.rate->set_bandwidth(rate);
}

}  // namespace sluice

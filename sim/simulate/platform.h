// The machine as SimGrid sees it: what lanes share (shared_rates.h) as links.
//
// A lane's work is a flow that crosses the memories at its ends and the link between them; flows on
// a link share it max-min fairly. Each lane has its own `rate` link, set to the most that the
// current operation can use (SimGrid 3.32 ignores Comm::set_rate in direct transfers; a lane has
// one flow at a time).
//
// If the machine's profile has measured rates under contention (Contention), links limit nothing,
// and with one device, for which they were measured, the host's memory neither. Instead, whenever a
// lane starts or ends, each rate link is set to the lane's share under contention with the active
// lanes. Max-min sharing missed such measurements by 12 to 15% (H200: copies to the host keep their
// rate under load, copies to the device and the optimizer become slower). Storage was not measured
// under contention: it keeps its rate and slows no lane.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "sim/simulate/operation_cost.h"
#include "sim/simulate/shared_rates.h"
#include "sim/specs/machine/machine_spec.h"

namespace simgrid::s4u {
class Host;
class Link;
class NetZone;
}  // namespace simgrid::s4u

namespace sluice {

/// The one platform of the process (SimGrid has one engine per process); its capacities follow the
/// machine. SimGrid takes no more links once a simulation has run, so there are those of
/// kMostDevices from the start. Used on the simulation thread only.
class Platform {
  public:
    static Platform& instance();
    /// Precondition: no simulation is running. `state_bytes` are the
    /// optimizer's; its slowdown by copies depends on them.
    void set_machine(const MachineSpec& machine, int devices, std::int64_t state_bytes);
    /// Blocks the calling SimGrid actor until the flow has ended. One flow at a time on a lane.
    void pass(Lane lane, const FlowDemand& demand);
    /// The host of the lanes' actors, which only wait there.
    simgrid::s4u::Host* actors_host() const;

  private:
    /// A lane's route through the machine: its own rate link, then the shared ones.
    struct Route {
        simgrid::s4u::Host* from = nullptr;
        simgrid::s4u::Host* to = nullptr;
        simgrid::s4u::Link* rate = nullptr;
        double rate_now = 0;
        double units = 1;  ///< per byte of its payload
    };
    struct Resource {
        simgrid::s4u::Link* link = nullptr;
        double capacity = 1;
    };
    /// The links of a kind of machine: with unified memory or without.
    struct Shape {
        std::vector<Resource> resources;
        ByLane<Route> routes{kMostDevices};
    };
    Platform();
    static void add_shape(simgrid::s4u::NetZone& zone, Shape& shape, bool unified);
    Route& route(Lane lane) { return shape_->routes[lane]; }
    /// Sets every lane's rate to its share under contention with the active lanes.
    void share_rates();
    /// A lane whose rate has to change, and the new rate; empty if all rates are right.
    std::optional<std::pair<Lane, double>> wrong_rate();
    void set_rate(Route& route, double rate);

    Shape shapes_[2];
    Shape* shape_ = shapes_;
    std::optional<SharedRates> sharing_;
    ByLane<double> alone_, rates_;  ///< of the flows that run, in bytes/s
};

}  // namespace sluice

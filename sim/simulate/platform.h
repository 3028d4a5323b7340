// Which resources do operations share, and how? The machine's topology as SimGrid sees it.
//
// A lane's work is a flow along its route (Topology::route): through the memories at its ends and
// the link between them. Each of these is a SimGrid link with a capacity in bytes/s; flows that
// cross it share it max-min fairly. Each lane has its own `rate` link, set to the most that the
// current operation can use (SimGrid 3.32 ignores Comm::set_rate in direct transfers; a lane has
// one flow at a time). A link to a device limits copies in both directions at once to their joint
// rate (2 x 47.85 rather than 2 x 55.3 GB/s on the measured H200). A copied byte loads DRAM like
// `copy_weight` bytes of host work. SimGrid counts a flow with one unit on all its links, so copies
// are counted in units of 1/copy_weight byte, and so is compute, which shares HBM with them.
//
// If the machine's profile has measured rates under contention (Contention), DRAM and links limit
// nothing. Instead, whenever a lane starts or ends, each rate link is set to the lane's share under
// contention with the active lanes. Max-min sharing missed such measurements by 12 to 15% (H200:
// copies to the host keep their rate under load, copies to the device and the optimizer become
// slower). Storage was not measured under contention: it keeps its rate and slows no lane. It was
// measured with one device: with several, DRAM limits their sum.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "sim/simulate/operation_cost.h"
#include "sim/specs/machine/machine_spec.h"

namespace simgrid::s4u {
class Host;
class Link;
class NetZone;
}  // namespace simgrid::s4u

namespace sluice {

/// The one platform of the process (SimGrid has one engine per process); its capacities follow the
/// machine. Used on the simulation thread only.
class Platform {
  public:
    /// Of a plan. SimGrid takes no more links once a simulation has run, so there are as many from
    /// the start.
    static constexpr int kMostDevices = 8;

    static Platform& instance();
    /// Precondition: no simulation is running, at most kMostDevices. `state_bytes` are the
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
        double alone = 0;  ///< bytes/s of the current flow; 0: none
        double units = 1;  ///< per byte of its payload
    };
    /// A link of the topology limits only when both directions run: one alone may be faster than
    /// both together (GH200: 380 against 368 GB/s).
    struct BothWays {
        simgrid::s4u::Link* link = nullptr;
        double total = 1;
    };
    /// The links of a shape of machine: with unified memory or without.
    struct Shape {
        std::vector<simgrid::s4u::Link*> memories;  ///< as in the topology
        std::vector<BothWays> links;
        ByLane<Route> routes{kMostDevices};
    };
    Platform();
    static void add_shape(simgrid::s4u::NetZone& zone, Shape& shape, bool unified);
    double units_per_byte(Lane lane) const;
    Shape& shape() { return shapes_[unified_ ? 1 : 0]; }
    Route& route(Lane lane) { return shape().routes[lane]; }
    /// Sets every lane's rate to its share under contention with the active lanes.
    void share_rates();
    /// A lane whose rate has to change, and the new rate; empty if all rates are right.
    std::optional<std::pair<Lane, double>> wrong_rate();
    void set_rate(Route& route, double rate);

    Shape shapes_[2];
    Contention contention_;
    bool unified_ = false;
    int devices_ = 1;
    double copy_weight_ = 1;
};

}  // namespace sluice

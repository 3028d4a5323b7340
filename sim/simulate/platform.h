// Which resources do operations share, and how? The machine as SimGrid sees it.
//
//                             host memory (DRAM)                   device memory (HBM)
//   optimizer, host   - rate ------- *
//   host_to_device    - rate ------- * ------ both ways --------------- *
//   device_to_host    - rate ------- * ------ both ways --------------- *
//   compute           - rate ------------------------------------------ *
//   interconnect      - rate ------------------------------------------ *
//   storage_read      - rate ------- *
//   storage_write     - rate ------- *
//
// Every `*` and every name on a line is a link with a capacity in bytes/s; flows that cross it
// share it max-min fairly. Each lane has its own `rate` link, set to the most that the current
// operation can use (SimGrid 3.32 ignores Comm::set_rate in direct transfers; a lane has one flow
// at a time). `both ways` limits copies in both directions at once to their joint rate (2 x 47.85
// rather than 2 x 55.3 GB/s on the measured H200). A copied byte loads DRAM like `copy_weight`
// bytes of host work. SimGrid counts a flow with one unit on all its links, so copies are counted
// in units of 1/copy_weight byte, and so is compute, which shares HBM with them. With unified
// memory both memories are one.
//
// If the machine's profile has measured rates under contention (Contention), DRAM and `both ways`
// limit nothing. Instead, whenever a lane starts or ends, each rate link is set to the lane's share
// under contention with the active lanes. Max-min sharing missed such measurements by 12 to 15%
// (H200: copies to the host keep their rate under load, copies to the device and the optimizer
// become slower). Storage was not measured under contention: it keeps its rate and slows no lane.
#pragma once

#include <optional>
#include <utility>

#include "sim/simulate/operation_cost.h"
#include "sim/specs/machine/machine_spec.h"

namespace simgrid::s4u {
class Host;
class Link;
}  // namespace simgrid::s4u

namespace sluice {

/// The one platform of the process (SimGrid has one engine per process); its capacities follow the
/// machine. Used on the simulation thread only.
class Platform {
  public:
    static Platform& instance();
    /// Precondition: no simulation is running. `state_bytes` are the optimizer's; its slowdown by
    /// copies depends on them.
    void set_machine(const MachineSpec& machine, std::int64_t state_bytes);
    /// Blocks the calling SimGrid actor until the flow has ended. One flow at a time on a lane.
    void pass(Lane lane, const FlowDemand& demand);
    /// The host of the lanes' actors, which only wait there.
    simgrid::s4u::Host* actors_host() const { return routes_[0][0].from; }

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
    Platform();
    double units_per_byte(Lane lane) const;
    Route& route(Lane lane) { return routes_[unified_ ? 1 : 0][static_cast<int>(lane)]; }
    /// Sets every lane's rate to its share under contention with the active lanes.
    void share_rates();
    /// A lane whose rate has to change, and the new rate; empty if all rates are right.
    std::optional<std::pair<Lane, double>> wrong_rate();
    void set_rate(Route& route, double rate);

    Route routes_[2][kLaneCount];  ///< by unified memory, by lane
    simgrid::s4u::Link *both_ways_ = nullptr, *dram_ = nullptr, *hbm_ = nullptr;
    Contention contention_;
    bool unified_ = false;
    double copy_weight_ = 1;
    double both_ways_total_ = 1;
};

}  // namespace sluice

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
// share it max-min fairly. Each lane has a `rate` link of its own, set to what the operation at
// hand can use at most (SimGrid 3.32 ignores Comm::set_rate in direct transfers; a lane has one
// flow at a time). `both ways` holds the copies of both directions, when both run, to what they
// reach together (2 x 47.85 rather than 2 x 55.3 GB/s on the H200 measured). A byte copied loads
// DRAM as `copy_weight` bytes of host work do; as SimGrid counts one unit a flow on all its links,
// copies are counted in units of 1/copy_weight byte, and so is compute, which meets them on HBM. On
// unified memory both memories are one.
//
// Where the machine's profile has measured what each lane keeps while others run (Contention), DRAM
// and `both ways` limit nothing; whenever a lane starts or ends, the rate links are set to the
// share of their rate that the lanes now at work keep. Max-min sharing missed such measurements by
// 12 to 15% (H200: copies to the host keep their rate under load, copies to the device and the
// optimizer yield). Storage was not among what ran there: it keeps its rate and takes none from the
// others.
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

/// The one platform of the process (SimGrid has one engine a process); its capacities follow the
/// machine. Used on the simulation thread alone.
class Platform {
  public:
    static Platform& instance();
    /// Precondition: no simulation is running.
    /// `state_bytes` of the optimizer that runs on it: how much it loses to copies depends on them.
    void set_machine(const MachineSpec& machine, std::int64_t state_bytes);
    /// Blocks the calling SimGrid actor until the flow has passed. One flow at a time on a lane.
    void pass(Lane lane, const FlowDemand& demand);
    /// Where the actors of the lanes live; they do nothing there but wait.
    simgrid::s4u::Host* actors_host() const { return routes_[0][0].from; }

  private:
    /// A lane's way through the machine: its own rate link, then the shared ones.
    struct Route {
        simgrid::s4u::Host* from = nullptr;
        simgrid::s4u::Host* to = nullptr;
        simgrid::s4u::Link* rate = nullptr;
        double rate_now = 0;
        double alone = 0;  ///< bytes/s of the flow that passes now; 0: none
        double units = 1;  ///< of its payload, a byte
    };
    Platform();
    double units_per_byte(Lane lane) const;
    Route& route(Lane lane) { return routes_[unified_ ? 1 : 0][static_cast<int>(lane)]; }
    /// Sets every lane's rate to what it keeps of its own beside the others at work.
    void share_rates();
    /// The lane whose rate is not what it should be, and that rate; nothing where all are right.
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

// How fast is each lane while others run, too? The lanes share memories and links of the machine's
// topology. For the platform of SimGrid (platform.h) and for quick steps (quick_run.h).
#pragma once

#include <string>
#include <vector>

#include "sim/plan/step_program.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {

/// A memory or a link as what flows share max-min fairly. A flow counts in units on all that it
/// crosses: a copied byte loads host memory like `copy_weight` bytes of host work, so copies are
/// counted in units of 1/copy_weight byte, and so is compute, which shares the device's memory with
/// them.
struct SharedResource {
    std::string name;
    std::vector<Lane> crossed_by;
    double capacity = 0;  ///< units/s of two or more flows
    /// For one flow: more for a link, which is faster one way than both ways together (GH200: 380
    /// against 368 GB/s).
    double alone = 0;
};

class SharedRates {
  public:
    /// `state_bytes` are the optimizer's; its slowdown by copies depends on them.
    SharedRates(const MachineSpec& machine, int devices, std::int64_t state_bytes);

    /// In the same order for all machines with as many devices, with unified memory or without.
    const std::vector<SharedResource>& resources() const { return resources_; }
    /// Units of a byte.
    double units(Lane lane) const { return units_[lane]; }
    bool measured_under_load() const { return !contention_.empty(); }
    /// Bytes/s of each lane while all run whose rate alone is not 0: less where the profile has
    /// measured rates under contention. They were measured with one device: the device that slows
    /// the host's work the most decides.
    void under_load(const ByLane<double>& alone, ByLane<double>& rates) const;
    /// The same once all flows share what they cross.
    void share(const ByLane<double>& alone, ByLane<double>& rates) const;

  private:
    int devices_;
    Contention contention_;
    ByLane<double> units_;
    std::vector<SharedResource> resources_;
};

}  // namespace sluice

// How much energy does a step take? Idle power for as long as it lasts, and in addition so much for
// each kind of work, where that was calibrated; else what the datasheet's power says, and it says
// so. What was measured is power at rest and joules of single kinds of work, on two H200
// (hwprofiles/measurements); the energy of a whole training step was not measured anywhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/plan/step.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {

/// What the machine draws, from its profile's section `power`.
struct PowerSpec {
    bool calibrated = false;  ///< energy by kind of work was measured: see MachineSpec::gpu.clock
    double copy_joules_per_byte = 0;  ///< beside idling; calibrated only
    double busy_w = 0;                ///< GPU while it computes; not calibrated only
    double idle_w = 0;
    /// CPU, memory, fans and the rest while the GPU trains: a part of a node's power; nothing where
    /// the profile does not say (0 where busy_w includes it).
    std::optional<double> host_w;  ///< for each GPU
    std::vector<std::string> assumptions;
    std::string host_assumption;  ///< the one about host_w, or empty
    bool host_given = false;      ///< by a flag

    bool known() const { return calibrated || busy_w > 0; }
};

PowerSpec power_spec(const MachineProfile& profile, const MachineSpec& machine);

/// Joules of one step, of all GPUs that train together.
struct StepEnergy {
    double idle = 0;  ///< of the GPU, for as long as the step lasts
    double products = 0, attention = 0, elementwise = 0, copies = 0;
    double busy = 0;  ///< where nothing is calibrated: beyond idling, of all work
    double host = 0;
    bool at_limit = false;  ///< the power limit holds the GPU back, and its energy with it

    double gpu() const { return idle + products + attention + elementwise + copies + busy; }
    double total() const { return gpu() + host; }
};

/// The energy of a steady step of a report of predict(). Calibrated: the energy of each kernel at
/// the GPU's highest clock (ClockSpec); where that is more than the power limit allows in the
/// step's time, the clock falls and work takes what the limit leaves. Precondition: power.known().
StepEnergy step_energy(const TimedPlan& report, const MachineSpec& machine, const PowerSpec& power);

}  // namespace sluice

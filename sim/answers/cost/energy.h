// How much energy does a step take? Calibrated: idle power for the time of the step, plus energy
// for each kind of work. Else: power from the datasheet, which is a ceiling and which the
// assumptions state. Idle power and joules of single kinds of work were measured on two H200
// (hwprofiles/measurements), joules of whole steps on an H200 (docs/fp8.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan/step.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {

/// The parts of the machine whose joules are counted.
enum class EnergyScope : std::uint8_t {
    whole,     ///< GPU and its part of the host, as measured or given
    ceiling,   ///< the same at the most that datasheets allow
    gpu_alone  ///< the host's power is not known
};

/// The words for a scope, in every answer.
struct EnergyTerms {
    const char* counts;  ///< "GPU and host at full power"
    const char* energy;  ///< after kWh: " at full power"
    const char* power;   ///< after W
    const char* range;   ///< "5 to 95%": from StepEnergy::least in a fast step to all in a slow one
};
const EnergyTerms& energy_terms(EnergyScope scope);

/// The machine's power, from its profile's section `power`.
struct PowerSpec {
    bool calibrated = false;  ///< energy by kind of work was measured: see MachineSpec::gpu.clock
    double copy_joules_per_byte = 0;  ///< in addition to idle power; calibrated only
    double busy_w = 0;                ///< GPU while it computes; not calibrated only
    double idle_w = 0;
    /// Power of CPU, memory, fans and the rest while the GPU trains: a part of a node's power.
    /// Empty if the profile does not say (0 if busy_w includes it).
    std::optional<double> host_w;  ///< for each GPU
    std::vector<std::string> assumptions;
    std::string host_assumption;  ///< the assumption about host_w, or empty
    bool host_given = false;      ///< by a flag
    bool host_is_most = false;    ///< the largest power of a node, not that of a training

    bool known() const { return calibrated || busy_w > 0; }
    EnergyScope scope() const;
};

PowerSpec power_spec(const MachineProfile& profile, const MachineSpec& machine);

/// Joules of one step, for all GPUs that are paid for.
struct StepEnergy {
    double idle = 0;  ///< idle power of the GPUs over the step
    double products = 0, attention = 0, elementwise = 0, copies = 0;
    double busy = 0;  ///< if not calibrated: all work, in addition to idle power
    double host = 0;
    double gpus = 1;        ///< that are counted: those that train, and those that wait
    bool at_limit = false;  ///< the power limit slows down the GPU and bounds its energy
    EnergyScope scope = EnergyScope::whole;
    /// Without what is only a ceiling: the host at its largest power, and what a GPU draws beyond
    /// its datasheet's watts while it computes.
    double least = 0;

    double gpu() const { return idle + products + attention + elementwise + copies + busy; }
    double total() const { return gpu() + host; }
};

/// The energy of a steady step of a prediction. Calibrated: the energy of each kernel at the GPU's
/// highest clock (ClockSpec); if that exceeds the power limit over the step's time, the clock falls
/// and work takes the limit's energy. Each of the `gpus_paid` has its part of the host's power;
/// those that do not train idle. Precondition: power.known().
StepEnergy step_energy(const TimedPlan& report, const MachineSpec& machine, const PowerSpec& power,
                       double gpus_paid);

}  // namespace sluice

// The plan of one step: from model, machine and training settings to operations and memory.
// Simulated and executed.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/memory_plan.h"
#include "sim/plan/step_program.h"
#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

struct StepPlan {
    StepProgram program;
    MemoryPlan memory;
    std::vector<std::string> assumptions;  ///< of the schedule, beside those of the machine
    std::string note;                      ///< what must be known before any number
};

/// Throws InputError where model, machine and settings do not go together.
void check_plan_inputs(const ModelSpec& model, const MachineSpec& machine,
                       const TrainingSpec& training);

/// Plans a step with the schedule of `training`. Precondition: check_training_spec passed.
StepPlan plan_step(const ModelSpec& model, const MachineSpec& machine,
                   const TrainingSpec& training);

/// Bytes that device or host offer a plan: capacity less context or system, or the budget where
/// that is smaller.
Bytes usable_memory(const MachineSpec& machine, const TrainingSpec& training, Tier tier);

/// Whether a plan fits, and by how much it does not.
struct Fit {
    struct OfTier {
        Peak peak;
        Bytes usable = 0;
        Bytes shortfall() const { return peak.bytes > usable ? peak.bytes - usable : 0; }
    };
    OfTier device, host;
    OfTier storage;  ///< usable: the peak itself where the machine's capacity is not known
    bool fits() const {
        return device.shortfall() == 0 && host.shortfall() == 0 && storage.shortfall() == 0;
    }
};

/// On a machine with unified memory both tiers draw on one pool: `host` then holds the sum.
Fit check_fit(const StepPlan& plan, const MachineSpec& machine, const TrainingSpec& training);

}  // namespace sluice

// Which nearby settings fit, where a plan does not?
#pragma once

#include <string>
#include <vector>

#include "sim/plan/step_plan.h"

namespace sluice {

/// Settings near the asked ones whose plan fits.
struct FittingChange {
    std::string flags;
    TrainingSpec training;
    Fit fit;
};

/// Tries single changes, then pairs, from the one that costs least speed to the one that changes
/// the training: smaller micro-batches, checkpoints on the host, more recomputation, smaller
/// states, a smaller batch. At most `most` results.
std::vector<FittingChange> nearest_fits(const ModelSpec& model, const MachineSpec& machine,
                                        const TrainingSpec& training, std::size_t most);

}  // namespace sluice

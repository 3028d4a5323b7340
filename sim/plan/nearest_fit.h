// Which nearby settings fit, where a plan does not?
#pragma once

#include <optional>
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

/// With the largest micro-batch that fits, where the batch at once does not and a smaller device
/// footprint helps; nothing where micro_batch is given already, or none fits. Precondition:
/// check_training_spec passed.
std::optional<TrainingSpec> in_micro_batches_that_fit(const ModelSpec& model,
                                                      const MachineSpec& machine,
                                                      const TrainingSpec& training);

}  // namespace sluice

// Which nearby settings fit, where a plan does not?
#pragma once

#include <functional>
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
/// states, a smaller batch. At most `most` results. Calls `before_each` before each plan, of which
/// there may be some hundreds of some milliseconds each; it may throw to stop.
std::vector<FittingChange> nearest_fits(const ModelSpec& model, const MachineSpec& machine,
                                        const TrainingSpec& training, std::size_t most,
                                        const std::function<void()>& before_each = {});

/// Whether single sequences of one token fit. If not, no batch and no sequence does: what the model
/// itself needs is too large.
bool fits_by_token(const ModelSpec& model, const MachineSpec& machine,
                   const TrainingSpec& training);

/// The same batch where it does not fit at once and a smaller device footprint helps: in the
/// largest micro-batches that fit; of the streamed schedule else with checkpoints on the host, and
/// the largest micro-batches that fit then. Nothing where micro_batch is given already, or none
/// fits. Precondition: check_training_spec passed.
std::optional<TrainingSpec> whole_batch_that_fits(const ModelSpec& model,
                                                  const MachineSpec& machine,
                                                  const TrainingSpec& training);

}  // namespace sluice

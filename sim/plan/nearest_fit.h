// Which nearby settings fit, where a plan does not, and which use memory that is left?
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/plan/step_plan.h"

namespace sluice {

bool fits_machine(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training);

/// Settings near the asked ones whose plan fits.
struct FittingTraining {
    TrainingSpec training;
    Fit fit;
};

/// Tries single changes, then pairs, from the one that costs least speed to the one that changes
/// the training: smaller micro-batches, checkpoints on the host, more recomputation, smaller
/// states, a smaller batch. At most `most` results. Calls `before_each` before each plan, of which
/// there may be some hundreds of some milliseconds each; it may throw to stop.
std::vector<FittingTraining> nearest_fits(const ModelSpec& model, const MachineSpec& machine,
                                          const TrainingSpec& training, std::size_t most,
                                          const std::function<void()>& before_each = {});

/// The training as asked where it fits, else, where `adjust` says so, the nearest that fits with
/// the same batch, sequence and states; nothing where none does. Throws InputError where the
/// training breaks a rule.
std::optional<TrainingSpec> fitting_training(const ModelSpec& model, const MachineSpec& machine,
                                             const TrainingSpec& training, bool adjust);

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

/// Trainings that differ from the asked one in one choice of memory against speed: no
/// recomputation, layers that keep everything, larger micro-batches (streamed schedule only).
/// Options of `fixed` stay as they are. They go together with the other settings, but may not fit.
std::vector<TrainingSpec> faster_with_more_memory(const ModelSpec& model,
                                                  const MachineSpec& machine,
                                                  const TrainingSpec& training,
                                                  const std::set<std::string>& fixed);

}  // namespace sluice

// Which nearby settings fit if a plan does not, and which use memory that is left?
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/plan/step_plan.h"

namespace sluice {

bool fits_machine(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training);

/// With the fewest further resident layers with which host memory is enough, or leaves room: they
/// have no copy there. The same training if it is enough already, no number is, or the schedule has
/// none.
TrainingSpec with_layers_off_host(const ModelSpec& model, const MachineSpec& machine,
                                  const TrainingSpec& training, bool leave_room = false);

/// Settings near the given ones whose plan fits.
struct FittingTraining {
    TrainingSpec training;
    Fit fit;
};

/// Tries single changes, then pairs, from the change that costs the least speed to those that
/// change the training: smaller micro-batches, checkpoints on the host, more recomputation, smaller
/// states, a smaller batch. At most `most` results. Calls `before_each` before each plan, of which
/// there may be some hundreds of some milliseconds each; it may throw to stop.
std::vector<FittingTraining> nearest_fits(const ModelSpec& model, const MachineSpec& machine,
                                          const TrainingSpec& training, std::size_t most,
                                          const std::function<void()>& before_each = {});

/// The given training if it fits. Else, with `adjust`, the nearest that fits with the same batch,
/// sequence and states; empty if none does. Throws InputError if the training breaks a rule.
std::optional<TrainingSpec> fitting_training(const ModelSpec& model, const MachineSpec& machine,
                                             const TrainingSpec& training, bool adjust);

/// Whether a sequence of one token fits, or of as many as FP8 needs, be it with resident layers and
/// tables or with the smallest buffers. If not, no batch and no sequence does, since the model
/// itself is too large.
bool fits_by_token(const ModelSpec& model, const MachineSpec& machine,
                   const TrainingSpec& training);

/// The same batch in the largest micro-batches that fit, if it does not fit as a whole and the
/// device is short. With the streamed schedule else also with checkpoints on the host. Empty if
/// micro_batch is given, or none fits. Precondition: check_training_spec passed.
std::optional<TrainingSpec> whole_batch_that_fits(const ModelSpec& model,
                                                  const MachineSpec& machine,
                                                  const TrainingSpec& training);

/// The same batch in the way for which the fewest bytes are short: sequence by sequence, with
/// checkpoints on the device or the host. These bytes are short with any settings.
TrainingSpec least_short(const ModelSpec& model, const MachineSpec& machine,
                         const TrainingSpec& training, const std::set<std::string>& fixed);

/// Trainings that differ from the given one in one exchange of memory for speed: no recomputation,
/// layers that keep everything, larger micro-batches (streamed schedule only). Options of `fixed`
/// do not change. They are valid with the other settings, but may not fit.
std::vector<TrainingSpec> faster_with_more_memory(const ModelSpec& model,
                                                  const MachineSpec& machine,
                                                  const TrainingSpec& training,
                                                  const std::set<std::string>& fixed);

}  // namespace sluice

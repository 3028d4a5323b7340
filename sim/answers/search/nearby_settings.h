// Do other settings train the same, only faster, with the memory that is left?
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/answers/predict/prediction.h"
#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

bool fits_machine(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training);

/// Beside the asked settings, those that differ in one choice of memory against speed: no
/// recomputation, layers that keep everything, larger micro-batches (streamed schedule only).
/// Options of `fixed` stay as they are. They may not fit.
struct NearbyChoice {
    TrainingSpec training;
    std::string flags;  ///< what differs
};
std::vector<NearbyChoice> nearby_choices(const ModelSpec& model, const MachineSpec& machine,
                                         const TrainingSpec& asked,
                                         const std::set<std::string>& fixed);
/// Another setting has to be worth its mention: its step is at most this share.
inline constexpr double kWorthChanging = 0.999;

struct NearbySettings {
    TrainingSpec training;
    std::string flags;  ///< what differs from those asked for; or empty
    Prediction report;
};

/// The fastest that fit, of the asked settings and nearby_choices(). Nothing where none fit.
std::optional<NearbySettings> fastest_nearby(const ModelSpec& model, const MachineSpec& machine,
                                             const TrainingSpec& asked,
                                             const std::set<std::string>& fixed = {});

}  // namespace sluice

// From the three specs to a prediction: plan, check the fit, simulate, and what else is wanted.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "sim/answers/predict/prediction.h"
#include "sim/specs/machine/machine_profile.h"

namespace sluice {

/// Which parts of a prediction are made in addition to plan and step; each needs simulations.
struct Wanted {
    enum class Band { none, where_it_fits, always };
    Band band = Band::none;                  ///< ten simulations
    bool suggestions = false;                ///< where it does not fit, some dozens of plans
    bool remedies = false;                   ///< some tens of simulations
    const MachineProfile* prices = nullptr;  ///< an hour's cost by its typical offer
    /// Chooses the plan first; options with these fields stay as asked. Null: all stay.
    const std::set<std::string>* chosen_beside = nullptr;
};

/// Predicts a steady step. A plan that does not fit is simulated nevertheless; the plan says by how
/// much it does not. `so_far` is called with the step, again with band and suggestions, and at last
/// with all. Throws InputError where the training spec breaks a rule.
Prediction predict(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training,
                   const Wanted& wanted = {},
                   const std::function<void(const Prediction&)>& so_far = {});

/// The same from the plan of these specs.
Prediction predict(PlannedStep plan, const ModelSpec& model, const MachineSpec& machine,
                   const TrainingSpec& training, const Wanted& wanted = {},
                   const std::function<void(const Prediction&)>& so_far = {});

}  // namespace sluice

// How does a prediction follow from the three specs? Plan, check the fit, simulate, and add the
// wanted parts.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "sim/answers/predict/prediction.h"
#include "sim/simulate/simulate_step.h"
#include "sim/specs/scenario/price.h"

namespace sluice {

/// Parts of a prediction in addition to plan and step; each requires simulations.
struct Wanted {
    enum class Band { none, where_it_fits, always };
    Band band = Band::none;    ///< ten simulations
    bool suggestions = false;  ///< if it does not fit; some dozens of plans
    bool remedies = false;     ///< some tens of simulations
    bool other_rates = false;  ///< where the plan is ours; twelve simulations
    bool ahead = false;        ///< the step that clips nothing; one simulation
    /// Prices of the machine, with the user's quotes. An hour costs as much as the typical rent,
    /// which a chosen plan considers.
    PriceList prices = {};
    /// Chooses the plan first; options with these fields keep their values. Null: all do.
    const std::set<std::string>* chosen_beside = nullptr;
    /// Takes the settings of the system's users in place of the fastest plan, and of a batch that
    /// does not fit the largest micro-batches that do. Ours has its fastest plan. Requires
    /// `chosen_beside`.
    bool as_users_run = false;
    /// Looks for a faster plan, in which options with these fields keep their values. Null: does
    /// not.
    const std::set<std::string>* faster_beside = nullptr;
};

/// The times of a plan's steady step on a machine.
Step predict_step(const StepPlan& plan, const MachineSpec& machine, const TrainingSpec& training);
/// The same, of a simulation that did not end early.
Step step_from(SimulatedStep simulated, const StepPlan& plan, const MachineSpec& machine,
               const TrainingSpec& training);

/// Predicts a steady step. A plan that does not fit is simulated without the memory limit; the plan
/// says how much memory is short. `so_far` is called with the step, again with band and
/// suggestions, and last with all parts. Throws InputError if the training spec breaks a rule.
Prediction predict(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training,
                   const Wanted& wanted = {},
                   const std::function<void(const Prediction&)>& so_far = {});

/// The same from the plan of these specs.
Prediction predict(PlannedStep plan, const ModelSpec& model, const MachineSpec& machine,
                   const TrainingSpec& training, const Wanted& wanted = {},
                   const std::function<void(const Prediction&)>& so_far = {});

}  // namespace sluice

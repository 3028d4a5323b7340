// How long is a step of --clipping auto that clips nothing, so that its updates need not wait for
// the norm, and which plan is good for both kinds of steps?
#pragma once

#include <optional>
#include <set>
#include <string>

#include "sim/answers/predict/prediction.h"

namespace sluice {

/// A run waits where it gains less: no 200 steps may cost more than with exact clipping and its
/// plan (engine/train/ahead_rule.h).
inline constexpr double kWorthAhead = 0.03;
/// The plan may give up so much of it in steps that clip. With 1.2% a plan took 2.8% longer on an
/// H200 (engine/measurements/clipping).
inline constexpr double kGivenUp = 0.005;

/// One simulation; empty where no update can begin earlier, or it gains less than kWorthAhead over
/// a step that `waits`.
std::optional<Seconds> step_ahead(const ModelSpec& model, const MachineSpec& machine,
                                  const TrainingSpec& training, Seconds waits);

/// The choice that is best where all steps clip, or another whose steps that clip nothing are
/// shorter: layers keep more on the host, and some updates are deferred. Options of `fixed` keep
/// their values. Up to some tens of simulations, few where nothing is gained.
PlanChoice also_good_ahead(const ModelSpec& model, const MachineSpec& machine,
                           const TrainingSpec& asked, PlanChoice choice,
                           const std::set<std::string>& fixed);

}  // namespace sluice

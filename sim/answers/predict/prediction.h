// What does a prediction say? The plan, its step, how far to trust it, what would help, and what an
// hour costs: each part is the value of one function, and nothing is added later.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/plan/step.h"
#include "sim/specs/scenario/price.h"

namespace sluice {

/// In which nine of ten measured steps lie: 5% and 95% of the step's time.
struct Band {
    Seconds low = 0, high = 0;
};

/// A change of settings with which the plan fits.
struct Suggestion {
    std::vector<Setting> settings;  ///< that change
    TrainingSpec training;          ///< with the change
    Bytes device_peak = 0;
    Bytes host_peak = 0;
};

/// No settings that fit were found; what would help.
struct NoSuggestion {
    bool shorter_sequence = false;
    Bytes host_memory_most = 0;  ///< that the machine can have, where it is short; 0: as it has
};

/// How much faster a lane would have to be.
struct FasterLane {
    double factor = 1;
    Seconds step = 0;        ///< with that
    double rate = 0;         ///< of the link or storage now, in bytes/s; of other lanes 0
    double both_ways = 0;    ///< of the link now, in bytes/s
    double host_memory = 0;  ///< now, in bytes/s, where it must be as much faster; else 0
};

/// What would hide a lane that compute waits for.
struct Remedy {
    Lane lane = Lane::compute;
    std::optional<FasterLane> faster;  ///< nothing: alone it gains less than kLeastGain
};
inline constexpr double kLeastGain = 0.02;

/// A setting that was chosen, and the step with the asked value in its place; nothing: that does
/// not fit.
struct ChosenSetting {
    Setting setting;
    std::optional<Seconds> step_without;
};

/// The settings that are fastest on the machine.
struct PlanChoice {
    TrainingSpec training;
    std::optional<Seconds> step_as_asked;  ///< nothing: that does not fit
    std::vector<ChosenSetting> settings;   ///< that differ from those asked
};

struct StepAdvice {
    std::vector<Suggestion> suggestions;  ///< only where the plan does not fit
    std::optional<NoSuggestion> no_suggestion;
    std::vector<Remedy> remedies;
};

struct Prediction : TimedPlan {
    std::optional<PlanChoice> choice;  ///< where the plan was chosen
    std::optional<Band> band;
    StepAdvice advice;
    std::optional<HourlyCost> cost;  ///< only where the machine's profile has a rent

    double usd_per_million_tokens_at(Seconds one_step) const {
        return kMega * cost->usd_per_hour / 3600 / tokens_per_s_at(one_step);
    }
};

}  // namespace sluice

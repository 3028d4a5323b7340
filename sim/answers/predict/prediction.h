// Which parts does a prediction have? The plan, its step, the band, remedies and the price of an
// hour. Each is the value of one function and never changes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answers/predict/other_rates.h"
#include "sim/plan/step.h"
#include "sim/specs/machine/rate_group.h"
#include "sim/specs/scenario/payment.h"

namespace sluice {

/// Where an error of a prediction comes from. Errors with equal sources move together.
struct ErrorSource {
    std::string machine = {};   ///< id; empty: what the schedule's model leaves out
    std::string schedule = {};  ///< empty: every schedule on the machine has this error
    RateGroup group = RateGroup::none;
    KernelStyle style = KernelStyle::fused;  ///< of kernels

    bool operator==(const ErrorSource&) const = default;
};

/// How much longer the step is with the low and with the high end of one range.
struct BandError {
    ErrorSource source;
    Seconds at_low = 0, at_high = 0;
};

/// The 5% and 95% ends of the step time, between which nine of ten measured steps lie.
struct Band {
    Seconds low = 0, high = 0;
    std::vector<BandError> errors = {};  ///< that make it
};

/// A change of settings with which the plan fits.
struct Suggestion {
    std::vector<Setting> settings;  ///< that change
    TrainingSpec training;          ///< with that change
    Bytes device_peak = 0;
    Bytes host_peak = 0;
};

/// The remedy if no settings were found that fit.
struct NoSuggestion {
    bool shorter_sequence = false;
    Bytes host_memory_most =
        0;  ///< the most that the machine can have, if the host is short; 0: no more than it has
    bool larger_budget = false;  ///< of device or host memory, which the machine has
};

/// How much faster a lane would have to be.
struct FasterLane {
    double factor = 1;
    Seconds step = 0;      ///< with that rate
    double rate = 0;       ///< current rate of the link or storage, in bytes/s; 0 for other lanes
    double both_ways = 0;  ///< current rate of both directions of the link, in bytes/s
    double host_memory =
        0;  ///< current rate in bytes/s if it must be faster by the same factor; else 0
};

/// The remedy for a lane that compute waits for.
struct Remedy {
    Lane lane;
    std::optional<FasterLane> faster;  ///< empty: alone it gains less than kLeastGain
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
    std::optional<Seconds> step;           ///< with `training`; nothing: no plan fits
    std::optional<Seconds> step_as_asked;  ///< nothing: that does not fit
    std::vector<ChosenSetting> settings;   ///< that differ from those asked
};

struct StepAdvice {
    std::vector<Suggestion> suggestions;  ///< only if the plan does not fit
    std::optional<NoSuggestion> no_suggestion;
    std::vector<Remedy> remedies;
};

/// A number with the 5 to 95% that the band of the step gives it; low and high are 0 where the step
/// has no band.
struct Banded {
    double value = 0, low = 0, high = 0;
};

/// Whose settings a prediction has where the user gives none.
enum class SettingsOf : std::uint8_t {
    schedule,  ///< the defaults of its options
    users,     ///< those with which the users of its system run it
    planner,   ///< those of its fastest plan
};
struct SettingsName {
    SettingsOf of;
    const char* plan;   ///< as --plan gives it
    const char* words;  ///< "settings: ..."
};
inline constexpr SettingsName kSettingsNames[] = {
    {SettingsOf::schedule, "given", "as given"},
    {SettingsOf::users, "users", "as its users run it"},
    {SettingsOf::planner, "auto", "fastest plan"},
};
static_assert(in_order(kSettingsNames, &SettingsName::of));
inline const SettingsName& settings_name(SettingsOf of) {
    return kSettingsNames[static_cast<std::size_t>(of)];
}

struct Prediction : TimedPlan {
    SettingsOf settings_of = SettingsOf::schedule;
    std::optional<PlanChoice> choice;       ///< where the plan was chosen
    std::optional<PlanChoice> faster_plan;  ///< that would gain more than kLeastGain, if wanted
    std::optional<Band> band;
    std::optional<OtherRates> other_rates;  ///< of optimizer and link, if wanted
    std::optional<Seconds> step_ahead;      ///< that clips nothing (step_ahead.h), if wanted
    StepAdvice advice;
    NodeShare share;  ///< of its node
    /// The typical rent, if the profile has one. An owned machine has no price, as no rent is paid.
    std::optional<Payment> cost;

    /// Tokens/s.
    Banded speed() const {
        if (!band) return {tokens_per_s()};
        return {tokens_per_s(), tokens_per_s_at(band->high), tokens_per_s_at(band->low)};
    }
    /// A price of an hour is known.
    bool has_rent() const { return cost && !cost->pays_electricity(); }
    /// Precondition: has_rent().
    double usd_per_million_tokens_at(Seconds one_step) const {
        return kMega * cost->usd_per_hour / 3600 / tokens_per_s_at(one_step);
    }
};

}  // namespace sluice

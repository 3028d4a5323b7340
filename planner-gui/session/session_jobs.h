// What can be asked of a session beside a verdict, and what comes back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answers/decision/decision.h"
#include "sim/base/units.h"
#include "sim/specs/scenario/scenario.h"

namespace sluice {

enum class JobKind {
    compare,
    sensitivity,
    explore,
    machines,
    scenarios,
    validate,
    overlay,
    decide
};
inline constexpr int kJobKinds = 8;

/// A field of a scenario, as of with_value(), and the values that it takes.
struct ExploredAxis {
    std::string field;
    std::vector<std::string> values;
};

/// Whether it is of several GPUs, with all in their memory.
bool is_cluster(const PlannedScenario& planned);

/// The scenario's machine, then those of the library.
std::vector<std::string> machines_to_try(const PlannedScenario& planned);

/// Which machine to buy or rent: that of `planned` or of one of these, each with the training
/// settings of `planned`; where the number of GPUs is another, with its own. Each has the price,
/// rent or offer of its scenario. A machine named twice with as many GPUs counts once, the first.
/// Throws InputError.
DecisionRequest decision_request(const PlannedScenario& planned,
                                 const std::vector<PlannedScenario>& others);

/// What one scenario of many is worth.
struct ScenarioValue {
    PlannedScenario planned;
    std::string refused;  ///< the sentence; then no number is there
    Fit fit;
    std::vector<Shortage> shortages;
    std::string model;
    TrainingSpec training;
    Seconds step = 0;  ///< assumes that it fits, if it does not
    Seconds step_low = 0, step_high = 0;
    std::optional<double> usd_per_hour, usd_per_million_tokens;
    std::string price_of;    ///< "Lambda: rented, 2026-06"
    std::string bound_by;    ///< "GPU compute"
    std::string bottleneck;  ///< the same as a sentence, with shares

    bool is_planned() const { return refused.empty(); }
    bool fits() const { return is_planned() && fit.fits(); }
    bool has_band() const { return step_high > 0; }
    double tokens_per_s_at(Seconds one_step) const {
        return static_cast<double>(training.tokens()) / one_step;
    }
    double tokens_per_s() const { return tokens_per_s_at(step); }
};

/// A band only where it fits. Nothing is thrown but Cancelled.
ScenarioValue value_of(const PlannedScenario& planned, bool with_band);

struct ExploredCell {
    std::size_t x = 0, y = 0;
    ScenarioValue value;
};

/// One machine with one system.
struct MachineSystem {
    std::string machine, schedule;
    ScenarioValue value;

    /// Whether it has a place in a picture of cost and speed.
    bool is_plotted() const { return value.fits() && value.usd_per_hour.has_value(); }
};

}  // namespace sluice

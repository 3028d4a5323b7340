// Which jobs does a session do in addition to verdicts, and what are their results?
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/answers/decision/decision.h"
#include "sim/base/units.h"
#include "sim/specs/machine/default_host.h"
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
    decide,
    start
};
inline constexpr int kJobKinds = 9;

/// A field of a scenario, as for with_value(), and its values.
struct ExploredAxis {
    std::string field;
    std::vector<std::string> values;
};

/// Whether several GPUs train with everything in their memory.
bool is_cluster(const PlannedScenario& planned);

/// The scenario's machine, then the machines of the library that have a price; `all`: also the
/// others, which are test machines and old ones.
std::vector<std::string> machines_to_try(const PlannedScenario& planned, bool all);

/// Which machine to buy or rent: the one of `planned` or of the other scenarios. Each has the
/// training settings of `planned`, or its own if its number of GPUs differs, and the price, rent or
/// offer of its scenario. Of equal machines with equal GPU counts only the first counts. Throws
/// InputError.
DecisionRequest decision_request(const PlannedScenario& planned,
                                 const std::vector<PlannedScenario>& others);

/// Speed, memory and cost of one scenario of many.
struct ScenarioValue {
    PlannedScenario planned;
    bool fastest_plan = false;  ///< of its system for the batch
    std::string refused;        ///< a sentence; the numbers are then not set
    Fit fit;
    HostMemory host;  ///< of the machine
    std::vector<Shortage> shortages;
    AskedStep asked;
    Seconds step = 0;  ///< without the memory limit, if it does not fit
    Seconds step_low = 0, step_high = 0;
    std::optional<double> usd_per_hour, usd_per_million_tokens;
    std::string price_of;    ///< "Lambda: rented, 2026-06"
    std::string bound_by;    ///< "GPU compute"
    std::string bottleneck;  ///< the same as a sentence, with shares

    bool is_planned() const { return refused.empty(); }
    bool fits() const { return is_planned() && fit.fits(); }
    bool has_band() const { return step_high > 0; }
    double tokens_per_s_at(Seconds one_step) const {
        return static_cast<double>(asked.training.tokens()) / one_step;
    }
    double tokens_per_s() const { return tokens_per_s_at(step); }
};

/// Has a band only if the scenario fits. Throws only Cancelled.
ScenarioValue value_of(const PlannedScenario& planned, bool with_band);

/// The value with the fastest plan, and with a band if it fits. Throws only Cancelled.
ScenarioValue fastest_value_of(const PlannedScenario& planned, const std::set<std::string>& fixed);

struct ExploredCell {
    std::size_t x = 0, y = 0;
    ScenarioValue value;
};

struct MachineSystem {
    std::string machine, schedule;
    ScenarioValue value;

    /// "16 x h200-sxm-pcie5" where several GPUs train.
    std::string name() const;
    /// Whether it belongs into a picture of cost and speed: a program trains it today.
    bool is_plotted() const {
        return value.fits() && value.usd_per_hour.has_value() && value.asked.runs_today.runs();
    }
};

}  // namespace sluice

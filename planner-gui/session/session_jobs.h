// Which jobs does a session do in addition to verdicts, and what are their results?
#pragma once

#include <cstdint>
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

/// The settings that a point has beside the values of its axes.
enum class PointSettings : std::uint8_t {
    fastest,  ///< of its own: those for speed and memory alone are chosen for each point
    given     ///< the scenario's, for all points
};

/// A map over two axes.
struct ExploredMap {
    ExploredAxis x, y;
    PointSettings settings = PointSettings::fastest;

    std::size_t size() const { return x.values.size() * y.values.size(); }
    /// The point i, row by row.
    std::vector<Setting> point(std::size_t i) const {
        return {{x.field, x.values[i % x.values.size()]}, {y.field, y.values[i / x.values.size()]}};
    }
};

/// `planned` at a point of a map, before its settings are chosen.
PlannedScenario at_point(PlannedScenario planned, const std::vector<Setting>& axes,
                         PointSettings settings);

/// Whether several GPUs train with everything in their memory.
bool is_cluster(const PlannedScenario& planned);

/// A machine with a system, and the GPUs of it that train.
struct MachineWay {
    std::string machine, schedule;
    std::int64_t gpus = 1;
};
/// Each of machines_to_try() with each system of one GPU, then as clusters: 2, 4, 8, ... GPUs up to
/// eight nodes, of which each takes an equal part of the batch, and the scenario's own number.
std::vector<MachineWay> ways_to_try(const PlannedScenario& planned, bool all);

/// The scenario's machine, then the machines of the library that have a price; `all`: also the
/// others, which are test machines and old ones.
std::vector<std::string> machines_to_try(const PlannedScenario& planned, bool all);

/// Which machine to buy or rent: the one of `planned` or of the other scenarios. Each has the
/// training settings of `planned`, or its own if its number of GPUs differs, and the price, rent or
/// offer of its scenario. Equal machines with equal GPU counts count once. Throws
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

/// The value with the fastest plan; has a band only if it fits. Throws only Cancelled.
ScenarioValue fastest_value_of(const PlannedScenario& planned, const std::set<std::string>& fixed,
                               bool with_band);

/// The value of one point, without a band. Throws only Cancelled.
ScenarioValue value_at_point(const PlannedScenario& planned, const std::vector<Setting>& axes,
                             PointSettings settings);

/// The scenario there. Settings that it gives for its own machine stay where it is that one.
ScenarioValue value_of_way(const PlannedScenario& planned, const MachineWay& way);

struct ExploredCell {
    std::size_t x = 0, y = 0;
    ScenarioValue value;
};

struct MachineSystem {
    std::string machine, schedule;
    ScenarioValue value;

    /// "16 x h200-sxm-pcie5" where several GPUs train.
    std::string name() const;
    /// In kMostNameLetters, for tables.
    std::string short_name() const;
    /// Whether it belongs into a picture of cost and speed: a program trains it today.
    bool is_plotted() const {
        return value.fits() && value.usd_per_hour.has_value() && value.asked.runs_today.runs();
    }
};

}  // namespace sluice

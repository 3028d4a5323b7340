// Does one scenario, as typed, fit, how fast is it, and how much does it cost?
#pragma once

#include <functional>
#include <set>
#include <string>

#include "sim/answers/cost/full_node.h"
#include "sim/answers/predict/plan_choice.h"
#include "sim/answers/predict/predict.h"
#include "sim/specs/scenario/scenario.h"

namespace sluice {

/// The texts of the files that a scenario names; empty for a name of the library, or if the file
/// cannot be read.
struct NamedFiles {
    std::string model, machine;
    bool operator==(const NamedFiles&) const = default;
};

/// Reads the current texts. Does not throw: resolve() reports what is wrong.
NamedFiles read_named_files(const PlannedScenario& planned);

/// How complete a prediction is; each stage includes those before it.
enum class PredictionStage { step, band, remedies };

struct ScenarioAnswer {
    PlannedScenario planned;
    NamedFiles files;  ///< as they were at the request
    Scenario scenario;
    PredictionStage stage = PredictionStage::step;
    Prediction prediction;  ///< suggestions arrive with the band, a faster plan with the last stage
    CostAnswer cost;
    std::optional<FullNode> together;  ///< arrives with the last stage

    const Prediction& report() const { return prediction; }
};

/// Everything that the planner shows about a scenario.
inline const Wanted kWholePrediction{
    .band = Wanted::Band::always, .suggestions = true, .remedies = true};

/// Calls `so_far` at each stage. Throws InputError with its field.
ScenarioAnswer answer_scenario(const PlannedScenario& planned, Wanted wanted,
                               const std::function<void(const ScenarioAnswer&)>& so_far = {});

/// A scenario with the fastest settings of its system for its batch.
struct FastestPlan {
    PlannedScenario planned;
    std::optional<Seconds> step;  ///< nothing: no plan fits, and the settings are as asked
};
/// Options with these fields keep their values. Throws InputError.
FastestPlan with_fastest_plan(PlannedScenario asked, const std::set<std::string>& fixed,
                              BillBase base = BillBase::least_part);

}  // namespace sluice

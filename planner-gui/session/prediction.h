// What is known of one scenario: whether it fits, how fast it is, what it costs.
#pragma once

#include <functional>

#include "planner-gui/session/named_files.h"
#include "sim/answers/cost/run_cost.h"
#include "sim/answers/predict/predict.h"

namespace sluice {

/// How much of a prediction is there yet; each has what the one before has.
enum class PredictionStage { step, band, remedies };

struct ScenarioAnswer {
    PlannedScenario planned;
    NamedFiles files;  ///< as they were when it was asked for
    Scenario scenario;
    PredictionStage stage = PredictionStage::step;
    CostAnswer cost;  ///< with the prediction; suggestions come with the band

    const Prediction& report() const { return cost.report; }
};

/// All that the planner shows of a scenario.
inline constexpr Wanted kWholePrediction{
    .band = Wanted::Band::always, .suggestions = true, .remedies = true};

/// Calls `so_far` at each stage. Throws InputError with its field.
ScenarioAnswer answer_scenario(const PlannedScenario& planned, Wanted wanted,
                               const std::function<void(const ScenarioAnswer&)>& so_far = {});

}  // namespace sluice

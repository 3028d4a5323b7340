// What is known of one scenario: whether it fits, how fast it is, what it costs.
#pragma once

#include "planner-gui/session/named_files.h"
#include "sim/answers/cost/run_cost.h"

namespace sluice {

/// How much of a prediction is there yet; each adds to the one before.
enum class PredictionStage { step, band, remedies };

struct Prediction {
    PlannedScenario planned;
    NamedFiles files;  ///< as they were when it was asked for
    Scenario scenario;
    PredictionStage stage = PredictionStage::step;
    CostAnswer cost;  ///< with the report; suggestions come with the band

    const StepReport& report() const { return cost.report; }
};

/// The first stage. Throws FieldError.
Prediction predict_scenario(const PlannedScenario& planned);
/// Settings that fit, of one that does not: some dozens of plans.
void add_suggestions(Prediction& prediction);
void add_band(Prediction& prediction);
/// Rates that would hide what limits.
void add_remedies(Prediction& prediction);

}  // namespace sluice

// What is known about one scenario: fit, speed, cost? Which predictions are already there?
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "sim/answers/cost/full_node.h"
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

/// The report alone, which shares the prediction's lifetime; null for null.
std::shared_ptr<const Prediction> shared_report(const std::shared_ptr<const ScenarioAnswer>& of);

/// Everything that the planner shows about a scenario.
inline const Wanted kWholePrediction{
    .band = Wanted::Band::always, .suggestions = true, .remedies = true};

/// Calls `so_far` at each stage. Throws InputError with its field.
ScenarioAnswer answer_scenario(const PlannedScenario& planned, Wanted wanted,
                               const std::function<void(const ScenarioAnswer&)>& so_far = {});

/// Keeps the predictions with bands that were added or found last. Their key is the scenario
/// without name and notes, and the texts of its files.
class PredictionCache {
  public:
    /// Null if there is none with these values and the current files.
    std::shared_ptr<const ScenarioAnswer> find(const PlannedScenario& planned);
    /// Ignores predictions without a band.
    void add(const std::shared_ptr<const ScenarioAnswer>& prediction);
    /// Makes room for this many scenarios, and for kSpare more that were edited.
    void keep(std::size_t scenarios);
    static constexpr std::size_t kSpare = 256;

  private:
    std::deque<std::shared_ptr<const ScenarioAnswer>> newest_;
    std::size_t most_ = kSpare;
};

}  // namespace sluice

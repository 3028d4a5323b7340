// What is known of one scenario: whether it fits, how fast it is, what it costs; and what has been
// predicted already?
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "sim/answers/cost/run_cost.h"
#include "sim/answers/predict/predict.h"
#include "sim/specs/scenario/scenario.h"

namespace sluice {

/// The texts of the files that a scenario names; empty where a name of the library stands, or the
/// file cannot be read.
struct NamedFiles {
    std::string model, machine;
    bool operator==(const NamedFiles&) const = default;
};

/// As they are now. Nothing is thrown: what is wrong with them resolve() says.
NamedFiles read_named_files(const PlannedScenario& planned);

/// How much of a prediction is there yet; each has what the one before has.
enum class PredictionStage { step, band, remedies };

struct ScenarioAnswer {
    PlannedScenario planned;
    NamedFiles files;  ///< as they were when it was asked for
    Scenario scenario;
    PredictionStage stage = PredictionStage::step;
    Prediction prediction;  ///< suggestions come with the band
    CostAnswer cost;

    const Prediction& report() const { return prediction; }
};

/// The report alone, which lives as long as its prediction does; null for null.
std::shared_ptr<const Prediction> shared_report(const std::shared_ptr<const ScenarioAnswer>& of);

/// All that the planner shows of a scenario.
inline constexpr Wanted kWholePrediction{
    .band = Wanted::Band::always, .suggestions = true, .remedies = true};

/// Calls `so_far` at each stage. Throws InputError with its field.
ScenarioAnswer answer_scenario(const PlannedScenario& planned, Wanted wanted,
                               const std::function<void(const ScenarioAnswer&)>& so_far = {});

/// Keeps the predictions that were added or found last, with their bands. Names and notes do not
/// matter; what the files hold that a scenario names does.
class PredictionCache {
  public:
    /// Null where there is none of these values and of the files as they are now.
    std::shared_ptr<const ScenarioAnswer> find(const PlannedScenario& planned);
    /// Those without a band are passed over.
    void add(const std::shared_ptr<const ScenarioAnswer>& prediction);
    /// Room for so many scenarios, and for kSpare more that were edited since.
    void keep(std::size_t scenarios);
    static constexpr std::size_t kSpare = 256;

  private:
    std::deque<std::shared_ptr<const ScenarioAnswer>> newest_;
    std::size_t most_ = kSpare;
};

}  // namespace sluice

// Which predictions are already there?
#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include "sim/answers/cost/scenario_answer.h"

namespace sluice {

/// The report alone, which shares the prediction's lifetime; null for null.
std::shared_ptr<const Prediction> shared_report(const std::shared_ptr<const ScenarioAnswer>& of);

/// Keeps the outlines of predictions with bands that were added or found last. Their key is the
/// scenario without name and notes, and the texts of its files.
class PredictionCache {
  public:
    /// Null if there is none with these values and the current files.
    std::shared_ptr<const ScenarioAnswer> find(const PlannedScenario& planned);
    /// Ignores predictions without a band.
    void add(const std::shared_ptr<const ScenarioAnswer>& prediction);
    /// Makes room for this many scenarios, and for kSpare more that were edited.
    void keep(std::size_t scenarios);
    static constexpr std::size_t kSpare = 32;

  private:
    std::deque<std::shared_ptr<const ScenarioAnswer>> newest_;
    std::size_t most_ = kSpare;
};

}  // namespace sluice

// What has been predicted already, by what was asked?
#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include "planner-gui/session/prediction.h"

namespace sluice {

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

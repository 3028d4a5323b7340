// What has been predicted already, by what was asked?
#pragma once

#include <deque>
#include <memory>

#include "planner-gui/session/prediction.h"

namespace sluice {

/// Keeps the newest predictions, with their bands. Names and notes do not matter; what the files
/// hold that a scenario names does.
class PredictionCache {
  public:
    /// Null where there is none of these values and of the files as they are now.
    std::shared_ptr<const Prediction> find(const PlannedScenario& planned) const;
    /// Those without a band are passed over.
    void add(const std::shared_ptr<const Prediction>& prediction);

  private:
    std::deque<std::shared_ptr<const Prediction>> newest_;
};

}  // namespace sluice

// What has been predicted already, by what was asked?
#pragma once

#include <deque>
#include <memory>

#include "planner-gui/session/prediction.h"

namespace sluice {

/// Keeps the newest predictions, with their bands. Names and notes do not matter.
class PredictionCache {
  public:
    /// Null where there is none.
    std::shared_ptr<const Prediction> find(const PlannedScenario& planned) const;
    /// Those without a band are passed over.
    void add(const std::shared_ptr<const Prediction>& prediction);

  private:
    std::deque<std::shared_ptr<const Prediction>> newest_;
};

}  // namespace sluice

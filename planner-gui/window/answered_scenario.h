// Which scenario is what a page shows an answer to? Pages whose answer is of another one say so.
#pragma once

#include <optional>

#include "sim/scenario/planned_scenario.h"

namespace sluice {

class AnsweredScenario {
  public:
    void ask(const PlannedScenario& planned) { asked_ = planned; }
    /// An answer to what was asked last is shown.
    void answer() { shown_ = asked_; }
    /// Whether what is shown is of another plan than `now`; false while nothing is shown.
    bool is_outdated(const PlannedScenario& now) const;
    const std::optional<PlannedScenario>& shown() const { return shown_; }

  private:
    std::optional<PlannedScenario> asked_, shown_;
};

}  // namespace sluice

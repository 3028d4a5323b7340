#include "planner-gui/window/answered_scenario.h"

namespace sluice {

bool AnsweredScenario::is_outdated(const PlannedScenario& now) const {
    return shown_ && !ask_the_same(*shown_, now);
}

}  // namespace sluice

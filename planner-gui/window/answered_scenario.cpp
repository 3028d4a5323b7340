#include "planner-gui/window/answered_scenario.h"

namespace sluice {

bool same_plan(PlannedScenario a, const PlannedScenario& b) {
    a.name = b.name;
    a.notes = b.notes;
    return a == b;
}

bool AnsweredScenario::is_outdated(const PlannedScenario& now) const {
    return shown_ && !same_plan(*shown_, now);
}

}  // namespace sluice

#include "planner-gui/window/answered_scenario.h"

namespace sluice {

bool AnsweredScenario::is_outdated(const PlannedScenario& now, const NamedFiles& files) const {
    return shown_ && (!ask_the_same(shown_->planned, now) || shown_->files != files);
}

bool AnsweredScenario::is_of_another_machine(const PlannedScenario& now,
                                             const NamedFiles& files) const {
    return shown_ &&
           (shown_->planned.machine != now.machine || shown_->files.machine != files.machine);
}

}  // namespace sluice

// What of a page becomes the current scenario: as it was predicted there, so that its numbers are
// the verdict's.
#include <algorithm>

#include "planner-gui/window/page_values.h"
#include "planner-gui/window/pages.h"
#include "sim/specs/scenario/changed_scenario.h"

namespace sluice {

void Pages::adopt(PlannedScenario planned, const QString& what) {
    planned.name = stack_.current().name;
    planned.notes = stack_.current().notes;
    Q_EMIT adopted(planned, what);
}

void Pages::adoptCell(const std::vector<VariedValue>& settings) {
    if (explored_.shown() != nullptr)
        adopt(with_values(*explored_.shown(), settings), tr("cell of the map"));
}

void Pages::adoptMachine(const QString& machine, const QString& system) {
    const auto row = std::ranges::find_if(tried_rows_, [&](const auto& tried) {
        return tried->machine == machine.toStdString() && tried->schedule == system.toStdString();
    });
    if (row != tried_rows_.end()) adopt((*row)->value.planned, tr("machine and system"));
}

void Pages::adoptSystem(const std::vector<Setting>& settings, const QString& what) {
    const PlannedScenario* const of = compared_.shown();
    if (of == nullptr) return;
    PlannedScenario planned = with_settings(*of, settings);
    // Another system takes those of the settings that it has.
    adopt(on_machine(planned, planned.machine.machine, planned.training["schedule"], 0), what);
}

void Pages::adoptUpgrade(const std::vector<Setting>& settings, const QString& what) {
    const PlannedScenario* const of = improved_.shown();
    if (of == nullptr) return;
    // Its numbers are of that machine; settings that were typed since stay.
    const bool of_another = of->machine.machine != stack_.current().machine.machine;
    adopt(with_settings(of_another ? *of : stack_.current(), settings), what);
}

}  // namespace sluice

// What of a page becomes the current scenario: as it was predicted there, so that its numbers are
// the verdict's.
#include "planner-gui/window/page_values.h"
#include "planner-gui/window/pages.h"
#include "sim/scenario/changed_scenario.h"

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
    const PlannedScenario& tried = tried_.shown() == nullptr ? stack_.current() : *tried_.shown();
    adopt(on_machine(tried, machine.toStdString(), system.toStdString(), host_memory_),
          tr("machine and system"));
}

void Pages::adoptFlags(const QString& flags, const QString& what) {
    PlannedScenario planned = with_flags(stack_.current(), flags.toStdString());
    // Another system takes those of the settings that it has.
    if (const auto system = planned.training.find("schedule"); system != planned.training.end())
        planned = on_machine(planned, planned.machine.machine, std::string(system->second), 0);
    adopt(planned, what);
}

void Pages::adoptUpgrade(const QString& flags, const QString& what) {
    const PlannedScenario* const of = improved_.shown();
    // Its numbers are of that machine.
    if (of != nullptr && of->machine.machine != stack_.current().machine.machine)
        return adopt(with_flags(*of, flags.toStdString()), what);
    adoptFlags(flags, what);
}

}  // namespace sluice

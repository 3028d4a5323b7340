#include "planner-gui/session/scenario_stack.h"

#include <QUndoCommand>
#include <algorithm>
#include <filesystem>
#include <utility>

#include "planner-gui/session/example.h"

namespace sluice {

namespace {

/// "name" for "name 2".
std::string without_number(const std::string& name) {
    const std::size_t digits = name.find_last_not_of("0123456789");
    const bool numbered =
        digits != std::string::npos && digits + 1 < name.size() && name[digits] == ' ';
    return numbered ? name.substr(0, digits) : name;
}

}  // namespace

std::string automatic_name(const PlannedScenario& planned) {
    const auto last = [](const std::string& path) {
        const std::string name = std::filesystem::path(path).filename().string();
        return name.empty() ? path : name;
    };
    if (planned.machine.machine.empty()) return last(planned.model.model);
    const auto gpus = planned.training.find("gpus");
    return last(planned.model.model) + " on " +
           (gpus == planned.training.end() ? "" : gpus->second + " x ") +
           last(planned.machine.machine);
}

/// Replaces one project by another; projects are small values.
class ChangeCommand : public QUndoCommand {
  public:
    ChangeCommand(ScenarioStack& stack, Project before, Project after, QString field)
        : stack_(stack),
          before_(std::move(before)),
          after_(std::move(after)),
          field_(std::move(field)) {}
    void redo() override { stack_.show(after_); }
    void undo() override { stack_.show(before_); }
    int id() const override { return 1; }
    bool mergeWith(const QUndoCommand* next) override {
        const auto* const change = static_cast<const ChangeCommand*>(next);
        if (field_.isEmpty() || change->field_ != field_ ||
            change->after_.current != after_.current)
            return false;
        after_ = change->after_;
        setObsolete(after_.scenarios == before_.scenarios);
        return true;
    }

  private:
    ScenarioStack& stack_;
    Project before_, after_;
    QString field_;  ///< empty: not merged
};

ScenarioStack::ScenarioStack(QObject* parent) : QObject(parent) {
    project_.scenarios.emplace_back();
    project_.scenarios.front().name = tr("Scenario").toStdString();
}

void ScenarioStack::open(Project project) {
    undo_.clear();
    project_ = std::move(project);
    Q_EMIT listChanged();
    Q_EMIT currentChanged();
}

void ScenarioStack::setCurrent(int index) {
    if (index == currentIndex() || index < 0 || index >= count()) return;
    project_.current = static_cast<std::size_t>(index);
    Q_EMIT currentChanged();
}

void ScenarioStack::push(Project before, Project after, const QString& field, const QString& what) {
    auto* const command = new ChangeCommand(*this, std::move(before), std::move(after), field);
    command->setText(what);
    undo_.push(command);
}

void ScenarioStack::push_edit(int index, const PlannedScenario& edited, const QString& field,
                              const QString& what) {
    const auto at = static_cast<std::size_t>(index);
    if (edited == project_.scenarios[at]) return;
    Project before = project_;
    before.current = at;  // makes the undone change visible
    Project after = before;
    after.scenarios[at] = edited;
    push(std::move(before), std::move(after), field, what);
}

void ScenarioStack::push_new(int index, PlannedScenario scenario, const QString& what) {
    scenario.name = freeName(scenario.name);
    Project after = project_;
    after.scenarios.insert(after.scenarios.begin() + index, std::move(scenario));
    after.current = static_cast<std::size_t>(index);
    push(project_, std::move(after), {}, what);
}

void ScenarioStack::edit(const PlannedScenario& edited, const QString& field, const QString& what) {
    const PlannedScenario& before = current();
    PlannedScenario after = edited;
    // A name that the user did not choose begins with model and machine.
    const std::string own = automatic_name(before), name = without_number(before.name);
    if (own != automatic_name(after) && before.name == after.name) {
        if (name == example_scenario().name)
            after.name = freeName(automatic_name(after));
        else if (name.starts_with(own))
            after.name = freeName(automatic_name(after) + name.substr(own.size()));
        if (after.name != before.name && after.notes == example_scenario().notes)
            after.notes.clear();
    }
    push_edit(currentIndex(), after, field, what);
}

void ScenarioStack::rename(int index, const QString& name) {
    PlannedScenario edited = project_.scenarios[static_cast<std::size_t>(index)];
    const std::string wanted = name.trimmed().toStdString();
    if (wanted.empty() || wanted == edited.name) return;
    edited.name = freeName(wanted);
    push_edit(index, edited, QStringLiteral("name"), tr("rename"));
}

void ScenarioStack::setNotes(int index, const QString& notes) {
    PlannedScenario edited = project_.scenarios[static_cast<std::size_t>(index)];
    edited.notes = notes.toStdString();
    push_edit(index, edited, QStringLiteral("notes"), tr("notes"));
}

void ScenarioStack::add(const PlannedScenario& scenario) {
    push_new(count(), scenario, tr("new scenario"));
}

void ScenarioStack::duplicate(int index) {
    push_new(index + 1, project_.scenarios[static_cast<std::size_t>(index)], tr("duplicate"));
}

void ScenarioStack::remove(int index) {
    if (count() == 1) return;
    Project after = project_;
    after.scenarios.erase(after.scenarios.begin() + index);
    const int current = currentIndex() > index ? currentIndex() - 1 : currentIndex();
    after.current = static_cast<std::size_t>(std::min(current, count() - 2));
    push(project_, std::move(after), {}, tr("delete scenario"));
}

std::string ScenarioStack::freeName(const std::string& name) const {
    const auto taken = [this](const std::string& wanted) {
        return std::any_of(project_.scenarios.begin(), project_.scenarios.end(),
                           [&](const PlannedScenario& one) { return one.name == wanted; });
    };
    if (!taken(name)) return name;
    // "name 2" becomes "name 3", not "name 2 2".
    const std::string stem = without_number(name);
    for (int number = 2;; ++number) {
        const std::string wanted = stem + " " + std::to_string(number);
        if (!taken(wanted)) return wanted;
    }
}

void ScenarioStack::show(const Project& project) {
    const bool only_words = project.current == project_.current &&
                            project.scenarios.size() == project_.scenarios.size() &&
                            ask_the_same(current(), project.scenarios[project.current]);
    project_ = project;
    Q_EMIT listChanged();
    if (!only_words) Q_EMIT currentChanged();
}

}  // namespace sluice

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

class ChangeCommand : public QUndoCommand {
  public:
    ChangeCommand(ScenarioStack& stack, ScenarioChange change, QString field)
        : stack_(stack), change_(std::move(change)), field_(std::move(field)) {}
    void redo() override { stack_.apply(change_); }
    void undo() override { stack_.apply(change_.reversed()); }
    int id() const override { return 1; }
    bool mergeWith(const QUndoCommand* next) override {
        const auto* const change = static_cast<const ChangeCommand*>(next);
        if (field_.isEmpty() || change->field_ != field_ || change->change_.at != change_.at)
            return false;
        change_.after = change->change_.after;
        setObsolete(change_.after == change_.before);
        return true;
    }

  private:
    ScenarioStack& stack_;
    ScenarioChange change_;
    QString field_;  ///< empty: not merged
};

ScenarioStack::ScenarioStack(QObject* parent) : QObject(parent) {
    project_.scenarios.emplace_back();
    project_.scenarios.front().name = tr("Scenario").toStdString();
    connect(&undo_, &QUndoStack::cleanChanged, this, &ScenarioStack::dirtyChanged);
}

void ScenarioStack::open(Project project) {
    undo_.clear();
    project_ = std::move(project);
    saved_run_ = project_.asked_run;
    Q_EMIT dirtyChanged();
    Q_EMIT listChanged();
    Q_EMIT currentChanged();
    Q_EMIT opened();
}

void ScenarioStack::setCurrent(int index) {
    if (index == currentIndex() || index < 0 || index >= count()) return;
    project_.current = static_cast<std::size_t>(index);
    Q_EMIT currentChanged();
}

void ScenarioStack::setAskedRun(std::optional<AskedRun> run) {
    if (run == project_.asked_run) return;
    project_.asked_run = std::move(run);
    Q_EMIT dirtyChanged();
}

void ScenarioStack::setSaved() {
    saved_run_ = project_.asked_run;
    undo_.setClean();
    Q_EMIT dirtyChanged();
}

void ScenarioStack::setUnsaved() {
    saved_run_.reset();
    undo_.resetClean();
    Q_EMIT dirtyChanged();
}

void ScenarioStack::push(ScenarioChange change, const QString& field, const QString& what) {
    auto* const command = new ChangeCommand(*this, std::move(change), field);
    command->setText(what);
    undo_.push(command);
}

void ScenarioStack::push_edit(int index, const PlannedScenario& edited, const QString& field,
                              const QString& what) {
    const auto at = static_cast<std::size_t>(index);
    if (edited == project_.scenarios[at]) return;
    // It becomes current, which makes the undone change visible.
    push({at, project_.scenarios[at], edited, at, at}, field, what);
}

void ScenarioStack::push_new(int index, PlannedScenario scenario, const QString& what) {
    scenario.name = freeName(scenario.name);
    const auto at = static_cast<std::size_t>(index);
    push({at, std::nullopt, std::move(scenario), project_.current, at}, {}, what);
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
    const int current = currentIndex() > index ? currentIndex() - 1 : currentIndex();
    const auto at = static_cast<std::size_t>(index);
    push({at, project_.scenarios[at], std::nullopt, project_.current,
          static_cast<std::size_t>(std::min(current, count() - 2))},
         {}, tr("delete scenario"));
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

void ScenarioStack::apply(const ScenarioChange& change) {
    const bool only_words = change.current_after == project_.current && change.before &&
                            change.after && ask_the_same(*change.before, *change.after);
    std::vector<PlannedScenario>& all = project_.scenarios;
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(change.at);
    if (!change.after)
        all.erase(at);
    else if (!change.before)
        all.insert(at, *change.after);
    else
        *at = *change.after;
    project_.current = change.current_after;
    Q_EMIT listChanged();
    if (!only_words) Q_EMIT currentChanged();
}

}  // namespace sluice

#include "planner-gui/session/scenario_stack.h"

#include <QUndoCommand>
#include <algorithm>
#include <filesystem>
#include <utility>

#include "planner-gui/session/example.h"

namespace sluice {

namespace {

/// "qwen2.5-72b on mi355x"; files by their own names.
std::string automatic_name(const PlannedScenario& planned) {
    const auto last = [](const std::string& path) {
        const std::string name = std::filesystem::path(path).filename().string();
        return name.empty() ? path : name;
    };
    return last(planned.model.model) + " on " + last(planned.machine.machine);
}

/// "name 2" as "name".
std::string without_number(const std::string& name) {
    const std::size_t digits = name.find_last_not_of("0123456789");
    const bool numbered =
        digits != std::string::npos && digits + 1 < name.size() && name[digits] == ' ';
    return numbered ? name.substr(0, digits) : name;
}

/// Nobody chose it: that of the example, or of what it trains on what.
bool is_automatic_name(const PlannedScenario& planned) {
    const std::string name = without_number(planned.name);
    return name == example_scenario().name || name == without_number(automatic_name(planned));
}

}  // namespace

class EditCommand : public QUndoCommand {
  public:
    EditCommand(ScenarioStack& stack, int index, PlannedScenario after, QString field)
        : stack_(stack),
          index_(index),
          before_(stack.project_.scenarios[static_cast<std::size_t>(index)]),
          after_(std::move(after)),
          field_(std::move(field)) {}
    void redo() override { stack_.replace(index_, after_); }
    void undo() override { stack_.replace(index_, before_); }
    int id() const override { return 1; }
    bool mergeWith(const QUndoCommand* next) override {
        const auto* const edit = static_cast<const EditCommand*>(next);
        if (edit->index_ != index_ || edit->field_ != field_ || field_.isEmpty()) return false;
        after_ = edit->after_;
        setObsolete(after_ == before_);
        return true;
    }

  private:
    ScenarioStack& stack_;
    int index_;
    PlannedScenario before_, after_;
    QString field_;
};

/// Puts a scenario in, or takes it out.
class InsertCommand : public QUndoCommand {
  public:
    InsertCommand(ScenarioStack& stack, int index, PlannedScenario scenario, bool takes_out)
        : stack_(stack),
          index_(index),
          current_(stack.currentIndex()),
          scenario_(std::move(scenario)),
          takes_out_(takes_out) {}
    void redo() override { takes_out_ ? erase() : insert(index_); }
    void undo() override { takes_out_ ? insert(current_) : stack_.erase(index_, current_); }

  private:
    void insert(int current) { stack_.insert(index_, scenario_, current); }
    void erase() { stack_.erase(index_, std::max(0, current_ > index_ ? current_ - 1 : current_)); }

    ScenarioStack& stack_;
    int index_, current_;
    PlannedScenario scenario_;
    bool takes_out_;
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

void ScenarioStack::push_edit(int index, const PlannedScenario& edited, const QString& field,
                              const QString& what) {
    if (edited == project_.scenarios[static_cast<std::size_t>(index)]) return;
    auto* const command = new EditCommand(*this, index, edited, field);
    command->setText(what);
    undo_.push(command);
}

void ScenarioStack::edit(const PlannedScenario& edited, const QString& field, const QString& what) {
    const PlannedScenario& before = current();
    PlannedScenario after = edited;
    const bool renamed = automatic_name(before) != automatic_name(after);
    if (renamed && before.name == after.name && is_automatic_name(before)) {
        after.name = freeName(automatic_name(after));
        if (after.notes == example_scenario().notes) after.notes.clear();
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
    PlannedScenario added = scenario;
    added.name = freeName(added.name);
    auto* const command = new InsertCommand(*this, count(), added, false);
    command->setText(tr("new scenario"));
    undo_.push(command);
}

void ScenarioStack::duplicate(int index) {
    PlannedScenario copy = project_.scenarios[static_cast<std::size_t>(index)];
    copy.name = freeName(copy.name);
    auto* const command = new InsertCommand(*this, index + 1, copy, false);
    command->setText(tr("duplicate"));
    undo_.push(command);
}

void ScenarioStack::remove(int index) {
    if (count() == 1) return;
    auto* const command =
        new InsertCommand(*this, index, project_.scenarios[static_cast<std::size_t>(index)], true);
    command->setText(tr("delete scenario"));
    undo_.push(command);
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

void ScenarioStack::replace(int index, const PlannedScenario& scenario) {
    PlannedScenario& here = project_.scenarios[static_cast<std::size_t>(index)];
    const bool only_words = index == currentIndex() && ask_the_same(here, scenario);
    here = scenario;
    project_.current = static_cast<std::size_t>(index);  // what is undone is shown
    Q_EMIT listChanged();
    if (!only_words) Q_EMIT currentChanged();
}

void ScenarioStack::insert(int index, const PlannedScenario& scenario, int current) {
    project_.scenarios.insert(project_.scenarios.begin() + index, scenario);
    project_.current = static_cast<std::size_t>(current);
    Q_EMIT listChanged();
    Q_EMIT currentChanged();
}

void ScenarioStack::erase(int index, int current) {
    project_.scenarios.erase(project_.scenarios.begin() + index);
    project_.current = static_cast<std::size_t>(std::min(current, count() - 1));
    Q_EMIT listChanged();
    Q_EMIT currentChanged();
}

}  // namespace sluice

// Which scenarios are planned, which of them is shown, and what can be undone?
#pragma once

#include <QObject>
#include <QString>
#include <QUndoStack>

#include "sim/specs/scenario/project_file.h"

namespace sluice {

/// Never empty. Every change but that of the current one can be undone; edits of one field that
/// follow each other are undone together.
class ScenarioStack : public QObject {
    Q_OBJECT
  public:
    explicit ScenarioStack(QObject* parent = nullptr);

    const Project& project() const { return project_; }
    const PlannedScenario& current() const { return project_.scenarios[project_.current]; }
    int currentIndex() const { return static_cast<int>(project_.current); }
    int count() const { return static_cast<int>(project_.scenarios.size()); }
    QUndoStack& undoStack() { return undo_; }

    /// Another project; nothing of the old can be undone. Precondition: it has a scenario.
    void open(Project project);
    void setCurrent(int index);

    /// `field` as in InputError, or "notes"; what has the same field is merged. `what` is shown in
    /// the menu: "Undo batch". A name that nobody chose follows the model and the machine.
    void edit(const PlannedScenario& edited, const QString& field, const QString& what);
    void add(const PlannedScenario& scenario);
    void duplicate(int index);
    void rename(int index, const QString& name);
    void setNotes(int index, const QString& notes);
    /// The last one is never removed.
    void remove(int index);

    /// Whether it differs from what was opened or saved.
    bool isDirty() const { return !undo_.isClean(); }
    void setSaved() { undo_.setClean(); }
    /// As `name`, or "name 2" where there is one of that name.
    std::string freeName(const std::string& name) const;

  Q_SIGNALS:
    /// Another one is current, or the current one has other values than its name and notes.
    void currentChanged();
    /// Names, notes or their number; or other values of one of them.
    void listChanged();

  private:
    friend class ChangeCommand;
    void show(const Project& project);
    void push(Project before, Project after, const QString& field, const QString& what);
    void push_edit(int index, const PlannedScenario& edited, const QString& field,
                   const QString& what);
    void push_new(int index, PlannedScenario scenario, const QString& what);

    Project project_;
    QUndoStack undo_;
};

}  // namespace sluice

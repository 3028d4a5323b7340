// Which scenarios does a project have, which one is current, and what can be undone?
#pragma once

#include <QObject>
#include <QString>
#include <QUndoStack>
#include <optional>

#include "sim/specs/scenario/project_file.h"

namespace sluice {

/// "qwen2.5-72b on mi355x", "qwen2.5-72b on 16 x mi355x"; for files, their names without folders.
std::string automatic_name(const PlannedScenario& planned);

/// One scenario that was edited, added or removed, and which one was current.
struct ScenarioChange {
    std::size_t at = 0;
    std::optional<PlannedScenario> before, after;  ///< empty: it did not, or does no longer, exist
    std::size_t current_before = 0, current_after = 0;

    ScenarioChange reversed() const { return {at, after, before, current_after, current_before}; }
};

/// Never empty. Every change of scenarios can be undone, except the choice of the current one.
/// Consecutive edits of one field are undone together.
class ScenarioStack : public QObject {
    Q_OBJECT
  public:
    explicit ScenarioStack(QObject* parent = nullptr);

    const Project& project() const { return project_; }
    const PlannedScenario& current() const { return project_.scenarios[project_.current]; }
    int currentIndex() const { return static_cast<int>(project_.current); }
    int count() const { return static_cast<int>(project_.scenarios.size()); }
    QUndoStack& undoStack() { return undo_; }

    /// Opens another project; nothing of the old one can be undone. Precondition: it has a
    /// scenario.
    void open(Project project);
    void setCurrent(int index);

    /// `field` as in InputError, or "notes"; consecutive changes of one field are merged. `what` is
    /// for the menu: "Undo batch". A name that the user did not choose follows model and machine.
    void edit(const PlannedScenario& edited, const QString& field, const QString& what);
    void add(const PlannedScenario& scenario);
    void duplicate(int index);
    void rename(int index, const QString& name);
    void setNotes(int index, const QString& notes);
    /// The last scenario is never removed.
    void remove(int index);

    /// The question of the start page and its answer, which Undo leaves as they are.
    void setAskedRun(std::optional<AskedRun> run);

    /// Whether the project differs from its file.
    bool isDirty() const { return !undo_.isClean() || project_.asked_run != saved_run_; }
    void setSaved();
    /// The project belongs to no file.
    void setUnsaved();
    /// `name`, or "name 2" if another scenario has that name.
    std::string freeName(const std::string& name) const;

  Q_SIGNALS:
    /// Another project is open.
    void opened();
    /// Another scenario is current, or the current one has changed in more than name and notes.
    void currentChanged();
    /// isDirty() may have changed.
    void dirtyChanged();
    /// Names, notes or the number of scenarios have changed, or values of one of them.
    void listChanged();

  private:
    friend class ChangeCommand;
    void apply(const ScenarioChange& change);
    void push(ScenarioChange change, const QString& field, const QString& what);
    void push_edit(int index, const PlannedScenario& edited, const QString& field,
                   const QString& what);
    void push_new(int index, PlannedScenario scenario, const QString& what);

    Project project_;
    std::optional<AskedRun> saved_run_;
    QUndoStack undo_;
};

}  // namespace sluice

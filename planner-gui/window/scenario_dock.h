// The list of the project's scenarios: switch, add, duplicate, rename, delete, notes.
#pragma once

#include <QWidget>

#include "planner-gui/models/table_model.h"
#include "planner-gui/session/scenario_stack.h"

class QListView;
class QPlainTextEdit;

namespace sluice {

class ScenarioDock : public QWidget {
    Q_OBJECT
  public:
    explicit ScenarioDock(ScenarioStack& stack, QWidget* parent = nullptr);
    /// Starts to edit the name of the current scenario.
    void renameCurrent();

  private:
    void follow();

    ScenarioStack& stack_;
    TableModel* model_;  ///< names, with notes as tooltips
    QListView* list_;
    QPlainTextEdit* notes_;
};

}  // namespace sluice

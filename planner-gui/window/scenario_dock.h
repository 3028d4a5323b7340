// The scenarios of the project: switch, add, duplicate, rename, delete, notes.
#pragma once

#include <QWidget>

#include "planner-gui/models/scenario_list_model.h"

class QListView;
class QPlainTextEdit;

namespace sluice {

class ScenarioDock : public QWidget {
    Q_OBJECT
  public:
    explicit ScenarioDock(ScenarioStack& stack, QWidget* parent = nullptr);
    /// Starts to edit the current one's name.
    void renameCurrent();

  private:
    void follow();

    ScenarioStack& stack_;
    ScenarioListModel* model_;
    QListView* list_;
    QPlainTextEdit* notes_;
};

}  // namespace sluice

// Which scenarios of the side-by-side page are predicted, and which are requested?
#pragma once

#include <QObject>
#include <QTimer>
#include <vector>

#include "planner-gui/session/planner_session.h"
#include "planner-gui/session/prediction.h"
#include "planner-gui/session/scenario_stack.h"

namespace sluice {

class ComparePage;

/// Fills the columns of the page with the scenarios that could be predicted.
class SideBySide : public QObject {
    Q_OBJECT
  public:
    SideBySide(ScenarioStack& stack, PlannerSession& session, ComparePage& page);

    /// Shows what is predicted and requests the rest. Does nothing while the page is hidden.
    void show();

  private:
    /// A requested prediction, by its scenario and the contents of its files.
    struct Asked {
        PlannedScenario planned;
        NamedFiles files;
        bool operator==(const Asked& other) const {
            return ask_the_same(planned, other.planned) && files == other.files;
        }
    };
    void take(const std::shared_ptr<const ScenarioAnswer>& prediction);
    void predict(std::vector<Asked> missing);

    ScenarioStack& stack_;
    PlannerSession& session_;
    ComparePage& page_;
    PredictionCache cache_;
    QTimer shown_soon_;         ///< runs after predictions have arrived
    std::vector<int> columns_;  ///< the scenario of each column
    std::vector<Asked> asked_;  ///< neither predicted nor refused
};

}  // namespace sluice

// All scenarios beside each other: which of them are predicted, and which are asked for?
#pragma once

#include <QObject>
#include <QTimer>
#include <vector>

#include "planner-gui/session/planner_session.h"
#include "planner-gui/session/prediction.h"
#include "planner-gui/session/scenario_stack.h"

namespace sluice {

class ComparePage;

/// Keeps the columns of the page; each is a scenario that could be predicted.
class SideBySide : public QObject {
    Q_OBJECT
  public:
    SideBySide(ScenarioStack& stack, PlannerSession& session, ComparePage& page);

    /// A verdict, which is one of the columns too.
    void add(const std::shared_ptr<const ScenarioAnswer>& prediction) { cache_.add(prediction); }
    /// What has been predicted; asks for the rest. Nothing while the page is hidden.
    void show();

  private:
    /// A prediction that was asked for, by its scenario and what its files held.
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
    QTimer shown_soon_;         ///< after predictions have arrived
    std::vector<int> columns_;  ///< the scenario of each
    std::vector<Asked> asked_;  ///< and not predicted, or refused
};

}  // namespace sluice

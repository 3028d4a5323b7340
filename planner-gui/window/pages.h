// Which pages are there, what does each show of the current scenario, and what does each request
// from the session?
#pragma once

#include <QTabWidget>
#include <array>
#include <memory>

#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/pictures/varied_number.h"
#include "planner-gui/session/planner_session.h"
#include "planner-gui/session/scenario_stack.h"
#include "planner-gui/window/answered_scenario.h"

namespace sluice {

class AnswerPage;
class BarsPage;
class ComparePage;
class ExplorePage;
class HomesPage;
class MoneyPage;
class Page;
class ParetoPage;
class PredictionPage;
class SideBySide;
class TimelinePage;
class ValidationPage;

class Pages : public QTabWidget {
    Q_OBJECT
  public:
    Pages(ScenarioStack& stack, PlannerSession& session, QWidget* parent = nullptr);

    /// Null: the scenario is refused.
    void setPrediction(const std::shared_ptr<const ScenarioAnswer>& prediction);
    void setByteUnits(ByteUnits units);

    /// The same for every page, so that tabs do not move when another comes to the front.
    QSize minimumSizeHint() const override;
    /// A preference only: pages take the room that is left by the parts above.
    QSize sizeHint() const override { return minimumSizeHint(); }
    bool hasHeightForWidth() const override { return false; }

    /// The picture or table of the current page; empty if it shows none.
    QByteArray svg() const;
    QString csv() const;
    /// A word for file names: "timeline".
    QString name() const;
    /// Shows scenarios side by side as far as they are predicted, and requests the others. Only if
    /// that page is current.
    void showScenarios();
    /// Marks answers that belong to another scenario, or to other contents of its files.
    void showOutdated();
    /// Shows the page that compares machines and starts it.
    void showMachines();

    TimelinePage& timeline() { return *timeline_; }
    PredictionPage& memory() { return *memory_; }
    HomesPage& homes() { return *homes_; }
    MoneyPage& money() { return *money_; }
    ComparePage& compare() { return *compare_; }
    ExplorePage& explore() { return *explore_; }
    ParetoPage& pareto() { return *pareto_; }
    BarsPage& sensitivity() { return *sensitivity_; }
    ValidationPage& validation() { return *validation_page_; }

  Q_SIGNALS:
    /// The project is to have this scenario, too.
    void adopted(sluice::PlannedScenario planned);
    /// The current scenario is to have this value in a field of the form.
    void entered(QString field, QString value);

  private:
    /// `name` as returned by name().
    template <typename Kind>
    Kind* add(Kind* page, const QString& title, const QString& name);
    Page& page(int index) const;
    void connectSteps();
    void connectBars();
    void connectExplore();
    void connectPareto();
    void connectValidation();
    /// The predicted step, unless a measured one is shown below another prediction of the scenario.
    void showStep(bool of_another);
    void showRun(const RunComparison& run);

    /// The page that answers such a question; null: none.
    AnswerPage* answering(JobKind kind) const;
    /// The scenario that the page's answer belongs to.
    AnsweredScenario& of(JobKind kind) { return answered_[static_cast<std::size_t>(kind)]; }
    /// Returns the current scenario and notes that the next answer is for it.
    const PlannedScenario& ask(JobKind kind);
    void stop(JobKind kind);
    /// The answer to the last request is shown.
    void answered(JobKind kind);
    void fail(JobKind kind, const QString& sentence);
    void startPareto();

    /// The scenario that the page predicted, so that the verdict has the page's numbers. It is
    /// named after what it is, and `what` distinguishes it.
    void adopt(PlannedScenario planned, const QString& what);
    void adoptSystem(const ComparedSystem& system);
    void adoptUpgrade(const Upgrade& upgrade);
    /// Whether the scenario is one of the machines and systems that were tried, with the same
    /// files.
    bool isTried(const PlannedScenario& now, const NamedFiles& files);

    ScenarioStack& stack_;
    PlannerSession& session_;
    std::shared_ptr<const ScenarioAnswer> prediction_;
    std::shared_ptr<const Validation> validation_;
    SideBySide* side_by_side_;
    std::array<AnsweredScenario, kJobKinds> answered_;  ///< by kind
    std::shared_ptr<const Comparison> comparison_;
    std::shared_ptr<const Sensitivity> upgrades_;

    TimelinePage* timeline_;
    PredictionPage* memory_;
    HomesPage* homes_;
    MoneyPage* money_;
    ComparePage* compare_;
    ParetoPage* pareto_;
    ExplorePage* explore_;
    BarsPage* sensitivity_;
    ValidationPage* validation_page_;
};

}  // namespace sluice

// The pages in tabs: what each shows of the current scenario, and what it asks the session for.
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
class MemoryPage;
class Page;
class ParetoPage;
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

    /// The same of every page, so that no tab moves when another comes to the front.
    QSize minimumSizeHint() const override;
    /// No more: what is above them comes first, and they take what is left.
    QSize sizeHint() const override { return minimumSizeHint(); }
    bool hasHeightForWidth() const override { return false; }

    /// The picture or table of the page in front; empty if it shows nothing.
    QByteArray svg() const;
    QString csv() const;
    /// A word for file names: "timeline".
    QString name() const;
    /// Side by side what has been predicted; asks for the rest. Only where that page is in front.
    void showScenarios();
    /// Marks what is of another scenario than the current one, or of other contents of its files.
    void showOutdated();
    /// The page that compares machines comes to the front and starts.
    void showMachines();

    TimelinePage& timeline() { return *timeline_; }
    MemoryPage& memory() { return *memory_; }
    ComparePage& compare() { return *compare_; }
    ExplorePage& explore() { return *explore_; }
    ParetoPage& pareto() { return *pareto_; }
    BarsPage& sensitivity() { return *sensitivity_; }
    ValidationPage& validation() { return *validation_page_; }

  Q_SIGNALS:
    /// The current scenario is to become this; `what` is shown in the menu.
    void adopted(sluice::PlannedScenario planned, QString what);

  private:
    /// `name` as name() returns it.
    template <typename Kind>
    Kind* add(Kind* page, const QString& title, const QString& name);
    Page& page(int index) const;
    void connectSteps();
    void connectBars();
    void connectExplore();
    void connectPareto();
    void connectValidation();
    /// The step of the prediction, unless a measured one is laid under another of its scenario.
    void showStep(bool of_another);
    void showRun(const RunComparison& run);

    /// The page that answers such a question; null: none does.
    AnswerPage* answering(JobKind kind) const;
    /// The scenario that the answer to a question is of.
    AnsweredScenario& of(JobKind kind) { return answered_[static_cast<std::size_t>(kind)]; }
    /// Returns the current scenario, of which such an answer is asked for from now on.
    const PlannedScenario& ask(JobKind kind);
    void stop(JobKind kind);
    /// What was asked for last is shown.
    void answered(JobKind kind);
    void fail(JobKind kind, const QString& sentence);
    void startPareto();

    /// Keeps the name and the notes of the current scenario. What a page shows becomes the scenario
    /// as it was predicted there, so that its numbers are the verdict's.
    void adopt(PlannedScenario planned, const QString& what);
    void adoptSystem(const ComparedSystem& system);
    void adoptUpgrade(const Upgrade& upgrade);
    /// Whether it is one of the machines and systems that were tried, with the same files.
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
    MemoryPage* memory_;
    ComparePage* compare_;
    ParetoPage* pareto_;
    ExplorePage* explore_;
    BarsPage* sensitivity_;
    ValidationPage* validation_page_;
};

}  // namespace sluice

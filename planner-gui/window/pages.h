// The pages in tabs: what each shows of the current scenario, and what it asks the session for.
#pragma once

#include <QTabWidget>
#include <functional>
#include <memory>

#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/pictures/varied_number.h"
#include "planner-gui/session/planner_session.h"
#include "planner-gui/session/scenario_stack.h"
#include "planner-gui/window/answered_scenario.h"

namespace sluice {

class ComparePage;
class ExplorePage;
class MemoryPage;
class ParetoPage;
class SensitivityPage;
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
    SensitivityPage& sensitivity() { return *sensitivity_; }
    ValidationPage& validation() { return *validation_page_; }

  Q_SIGNALS:
    /// The current scenario is to become this; `what` is shown in the menu.
    void adopted(sluice::PlannedScenario planned, QString what);

  private:
    /// What leaves a page.
    struct Export {
        QString name;
        std::function<QByteArray()> svg;
        std::function<QString()> csv;
    };
    template <typename Page>
    Page* add(const QString& title, const QString& name);
    void connectTimeline();
    void connectCompare();
    void connectExplore();
    void connectPareto();
    void connectSensitivity();
    void connectValidation();
    void connectFailures();
    /// The step of the prediction, unless a measured one is laid under another of its scenario.
    void showStep(bool of_another);
    void startPareto();
    void showRun(const RunComparison& run);
    void fail(JobKind kind, const QString& sentence);
    /// Keeps the name and the notes of the current scenario.
    void adopt(PlannedScenario planned, const QString& what);
    void adoptCell(const std::vector<VariedValue>& settings);
    void adoptSystem(const std::vector<Setting>& settings, const QString& what);
    void adoptUpgrade(const std::vector<Setting>& settings, const QString& what);
    void adoptMachine(const QString& machine, const QString& system);
    /// Whether it is one of the machines and systems that were tried, with the same files.
    bool isTried(const PlannedScenario& now, const NamedFiles& files) const;

    ScenarioStack& stack_;
    PlannerSession& session_;
    std::shared_ptr<const ScenarioAnswer> prediction_;
    std::shared_ptr<const Validation> validation_;
    SideBySide* side_by_side_;
    AnsweredScenario compared_, tried_, explored_, improved_, validated_, overlaid_;
    std::vector<std::shared_ptr<const MachineSystem>> tried_rows_;  ///< as the page shows them
    std::vector<Export> exports_;

    TimelinePage* timeline_;
    MemoryPage* memory_;
    ComparePage* compare_;
    ParetoPage* pareto_;
    ExplorePage* explore_;
    SensitivityPage* sensitivity_;
    ValidationPage* validation_page_;
};

}  // namespace sluice

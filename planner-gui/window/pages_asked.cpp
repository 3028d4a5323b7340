// What each page asks the session for, and where the answers and failures go.
#include "planner-gui/pages/compare_page.h"
#include "planner-gui/pages/explore_page.h"
#include "planner-gui/pages/pareto_page.h"
#include "planner-gui/pages/sensitivity_page.h"
#include "planner-gui/pages/systems_part.h"
#include "planner-gui/pages/timeline_page.h"
#include "planner-gui/pages/validation_page.h"
#include "planner-gui/window/file_dialogs.h"
#include "planner-gui/window/page_values.h"
#include "planner-gui/window/pages.h"

namespace sluice {

void Pages::connectTimeline() {
    connect(timeline_, &TimelinePage::measuredReportWanted, this, [this] {
        const QString file = choose_to_open(this, tr("Report of a measured run"),
                                            tr("Reports (*.json);;All files (*)"));
        if (file.isEmpty()) return;
        overlaid_.ask(stack_.current());
        session_.overlay(stack_.current(), file);
    });
    connect(timeline_, &TimelinePage::measuredTakenAway, this, [this] {
        overlaid_.take_away();
        timeline_->setReport(shared_report(prediction_));
    });
    connect(&session_, &PlannerSession::overlaid, this,
            [this](const std::shared_ptr<const RunComparison>& run) {
                overlaid_.answer();
                const PlannedScenario& now = stack_.current();
                if (!overlaid_.is_outdated(now, read_named_files(now))) return showRun(*run);
                overlaid_.take_away();
                timeline_->fail(
                    tr("The measured step is not shown: the scenario has changed since its report "
                       "was chosen; choose the report again."));
            });
}

void Pages::showRun(const RunComparison& run) {
    if (!run.measured) return;
    overlaid_.answer();
    timeline_->setReport(std::make_shared<const Prediction>(run.predicted));
    timeline_->setMeasured(std::make_shared<const Prediction>(*run.measured));
    setCurrentWidget(timeline_);
}

void Pages::connectCompare() {
    connect(&compare_->systems(), &SystemsPart::compareRequested, this, [this] {
        compare_->systems().setBusy(true);
        compared_.ask(stack_.current());
        session_.compare(stack_.current());
    });
    connect(&session_, &PlannerSession::compared, this,
            [this](const std::shared_ptr<const Comparison>& comparison) {
                compare_->systems().setBusy(false);
                compare_->systems().setComparison(comparison);
                compared_.answer();
                showOutdated();
            });
    connect(&compare_->systems(), &SystemsPart::adopt, this, &Pages::adoptSystem);
}

void Pages::connectExplore() {
    connect(explore_, &ExplorePage::exploreRequested, this,
            [this](const HeatAxis& x, const HeatAxis& y) {
                explored_.ask(stack_.current());
                session_.explore(stack_.current(), explored_axis(x), explored_axis(y));
            });
    connect(explore_, &ExplorePage::stopRequested, this, [this] {
        session_.cancel(JobKind::explore);
        explore_->setBusy(false);
    });
    connect(&session_, &PlannerSession::explored, this,
            [this](const std::shared_ptr<const ExploredCell>& cell) {
                explore_->setCell(static_cast<int>(cell->x), static_cast<int>(cell->y),
                                  heat_cell(cell->value));
                explored_.answer();
                showOutdated();
            });
    connect(explore_, &ExplorePage::adopted, this, &Pages::adoptCell);
}

void Pages::connectPareto() {
    connect(pareto_, &ParetoPage::paretoRequested, this, &Pages::startPareto);
    connect(pareto_, &ParetoPage::stopRequested, this, [this] {
        session_.cancel(JobKind::machines);
        pareto_->setBusy(false);
    });
    connect(&session_, &PlannerSession::machineFound, this,
            [this](const std::shared_ptr<const MachineSystem>& found) {
                pareto_->addRow(pareto_row(*found));
                if (pareto_->model().rowCount() == 1) tried_rows_.clear();
                tried_rows_.push_back(found);
                tried_.answer();
                showOutdated();
            });
    connect(pareto_, &ParetoPage::adopted, this, &Pages::adoptMachine);
}

void Pages::startPareto() {
    std::vector<std::string> systems;
    for (const Schedule schedule : all_schedules()) systems.emplace_back(schedule->name);
    // So many GPUs of each machine, beside the systems of one, where that is what is planned.
    if (is_cluster(stack_.current()))
        systems.emplace_back(schedule_with(&ScheduleRecord::several_gpus)->name);
    const std::vector<std::string> machines = machines_to_try(stack_.current());
    tried_.ask(stack_.current());
    pareto_->start(static_cast<int>(machines.size() * systems.size()));
    session_.tryMachines(stack_.current(), machines, systems);
}

void Pages::showMachines() {
    setCurrentWidget(pareto_);
    startPareto();
}

void Pages::connectSensitivity() {
    connect(sensitivity_, &SensitivityPage::sensitivityRequested, this, [this] {
        sensitivity_->setBusy(true);
        improved_.ask(stack_.current());
        session_.findSensitivity(stack_.current());
    });
    connect(&session_, &PlannerSession::sensitivityFound, this,
            [this](const std::shared_ptr<const Sensitivity>& found) {
                sensitivity_->setBusy(false);
                sensitivity_->setSensitivity(found);
                improved_.answer();
                showOutdated();
            });
    connect(sensitivity_, &SensitivityPage::adopt, this, &Pages::adoptUpgrade);
}

void Pages::connectValidation() {
    connect(validation_page_, &ValidationPage::filesWanted, this, [this] {
        validation_page_->compare(choose_several_to_open(this, tr("Reports of measured steps"),
                                                         tr("Reports (*.json);;All files (*)")));
    });
    connect(validation_page_, &ValidationPage::folderWanted, this, [this] {
        const QString folder =
            choose_folder_to_open(this, tr("Folder of reports of measured steps"));
        if (!folder.isEmpty()) validation_page_->compare({folder});
    });
    connect(validation_page_, &ValidationPage::filesChosen, this, [this](const QStringList& files) {
        validation_page_->setBusy(true);
        validated_.ask(stack_.current());
        session_.validate(stack_.current(), files);
    });
    connect(&session_, &PlannerSession::validated, this,
            [this](const std::shared_ptr<const Validation>& validation) {
                validation_ = validation;
                validation_page_->setBusy(false);
                validation_page_->setValidation(validation);
                validated_.answer();
                showOutdated();
            });
    connect(validation_page_, &ValidationPage::runActivated, this, [this](int run) {
        PlannedScenario of = stack_.current();
        of.machine = validated_.shown()->machine;  // which may be another by now
        overlaid_.ask(of);
        showRun(validation_->runs[static_cast<std::size_t>(run)]);
    });
}

void Pages::connectFailures() {
    connect(&session_, &PlannerSession::finished, this, [this](JobKind kind) {
        if (kind == JobKind::explore) explore_->setBusy(false);
        if (kind == JobKind::machines) pareto_->setBusy(false);
    });
    connect(&session_, &PlannerSession::failed, this, &Pages::fail);
}

void Pages::fail(JobKind kind, const QString& sentence) {
    switch (kind) {
        case JobKind::compare:
            return compare_->systems().fail(sentence);
        case JobKind::scenarios:
            return compare_->failScenarios(sentence);
        case JobKind::explore:
            return explore_->fail(sentence);
        case JobKind::machines:
            return pareto_->fail(sentence);
        case JobKind::sensitivity:
            return sensitivity_->fail(sentence);
        case JobKind::validate:
            return validation_page_->fail(sentence);
        case JobKind::overlay:
            return timeline_->fail(sentence);
        case JobKind::decide:  // which says it itself
            return;
    }
}

}  // namespace sluice

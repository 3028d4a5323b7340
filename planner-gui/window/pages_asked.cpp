// Which jobs do the pages request from the session, and where do results and failures go?
#include "planner-gui/pages/bars_page.h"
#include "planner-gui/pages/compare_page.h"
#include "planner-gui/pages/explore_page.h"
#include "planner-gui/pages/pareto_page.h"
#include "planner-gui/pages/timeline_page.h"
#include "planner-gui/pages/validation_page.h"
#include "planner-gui/window/file_dialogs.h"
#include "planner-gui/window/pages.h"

namespace sluice {

namespace {

/// "Batch 64, Sequence 4,096".
QString words_of(const std::vector<VariedValue>& cell) {
    QStringList out;
    for (const VariedValue& one : cell)
        out << qtext(one.number.label + " " + value_label(one.number, one.value) +
                     (one.number.option == nullptr ? " " + one.number.unit : ""));
    return out.join(QStringLiteral(", "));
}

}  // namespace

AnswerPage* Pages::answering(JobKind kind) const {
    switch (kind) {
        case JobKind::compare:
            return &compare_->systems();
        case JobKind::scenarios:
            return &compare_->scenarios();
        case JobKind::explore:
            return explore_;
        case JobKind::machines:
            return pareto_;
        case JobKind::sensitivity:
            return sensitivity_;
        case JobKind::validate:
            return validation_page_;
        case JobKind::overlay:
        case JobKind::decide:
        case JobKind::start:
            return nullptr;
    }
    return nullptr;
}

const PlannedScenario& Pages::ask(JobKind kind) {
    of(kind).ask(stack_.current());
    if (AnswerPage* const page = answering(kind)) page->setBusy(true);
    return stack_.current();
}

void Pages::stop(JobKind kind) {
    session_.cancel(kind);
    answering(kind)->setBusy(false);
}

void Pages::answered(JobKind kind) {
    of(kind).answer();
    showOutdated();
}

void Pages::fail(JobKind kind, const QString& sentence) {
    if (AnswerPage* const page = answering(kind)) page->fail(sentence);
    if (kind == JobKind::overlay)
        timeline_->fail(sentence);  // Exports says why no report can be made
}

void Pages::connectSteps() {
    connect(timeline_, &TimelinePage::measuredReportWanted, this, [this] {
        const QString file = choose_to_open(this, tr("Report of a measured run"),
                                            tr("Reports (*.json);;All files (*)"));
        if (!file.isEmpty()) session_.overlay(ask(JobKind::overlay), file);
    });
    connect(timeline_, &TimelinePage::measuredTakenAway, this, [this] {
        of(JobKind::overlay).take_away();
        timeline_->setReport(shared_report(prediction_));
    });
    connect(&session_, &PlannerSession::overlaid, this,
            [this](const std::shared_ptr<const RunComparison>& run) {
                AnsweredScenario& overlaid = of(JobKind::overlay);
                overlaid.answer();
                const PlannedScenario& now = stack_.current();
                if (!overlaid.is_outdated(now, read_named_files(now))) return showRun(*run);
                overlaid.take_away();
                timeline_->fail(
                    tr("The measured step is not shown: the scenario has changed since its report "
                       "was chosen; choose the report again."));
            });
}

void Pages::showRun(const RunComparison& run) {
    if (!run.measured) return;
    of(JobKind::overlay).answer();
    timeline_->setReport(std::make_shared<const Prediction>(run.predicted));
    Prediction measured;
    static_cast<TimedPlan&>(measured) = *run.measured;
    timeline_->setMeasured(std::make_shared<const Prediction>(std::move(measured)));
    setCurrentWidget(timeline_);
}

void Pages::connectBars() {
    BarsPage* const systems = &compare_->systems();
    connect(systems, &BarsPage::requested, this, [this, systems] {
        session_.compare(ask(JobKind::compare), systems->isOptionChecked());
    });
    connect(&session_, &PlannerSession::compared, this,
            [this, systems](const std::shared_ptr<const Comparison>& all) {
                comparison_ = all;
                systems->setAnswer([all](ByteUnits units) { return systems_answer(*all, units); });
                answered(JobKind::compare);
            });
    connect(systems, &BarsPage::adopted, this, [this](int system) {
        adoptSystem(comparison_->systems[static_cast<std::size_t>(system)]);
    });
    connect(sensitivity_, &BarsPage::requested, this,
            [this] { session_.findSensitivity(ask(JobKind::sensitivity)); });
    connect(&session_, &PlannerSession::sensitivityFound, this,
            [this](const std::shared_ptr<const Sensitivity>& found) {
                upgrades_ = found;
                sensitivity_->setAnswer([found](ByteUnits) { return sensitivity_answer(*found); });
                answered(JobKind::sensitivity);
            });
    connect(sensitivity_, &BarsPage::adopted, this, [this](int upgrade) {
        adoptUpgrade(upgrades_->upgrades[static_cast<std::size_t>(upgrade)]);
    });
}

void Pages::connectExplore() {
    connect(explore_, &ExplorePage::exploreRequested, this, [this](const HeatMap& map) {
        session_.explore(ask(JobKind::explore),
                         {explored_axis(map.x()), explored_axis(map.y()), map.point_settings()});
    });
    connect(explore_, &AnswerPage::stopRequested, this, [this] { stop(JobKind::explore); });
    connect(
        &session_, &PlannerSession::explored, this,
        [this](const std::shared_ptr<const ExploredCell>& cell) {
            explore_->setCell({static_cast<int>(cell->x), static_cast<int>(cell->y)}, cell->value);
            answered(JobKind::explore);
        });
    connect(explore_, &ExplorePage::adopted, this, [this](CellIndex at) {
        const HeatMap& map = explore_->map();
        adopt(map.cell(at)->planned, words_of(map.values(at)));
    });
}

void Pages::connectPareto() {
    connect(pareto_, &AnswerPage::requested, this, &Pages::startPareto);
    connect(pareto_, &AnswerPage::stopRequested, this, [this] { stop(JobKind::machines); });
    connect(&session_, &PlannerSession::machineFound, this,
            [this](const std::shared_ptr<const MachineSystem>& found) {
                pareto_->addRow(*found);
                answered(JobKind::machines);
            });
    connect(pareto_, &ParetoPage::adopted, this, [this](int row) {
        const MachineSystem& taken = pareto_->rows()[static_cast<std::size_t>(row)];
        adopt(taken.value.planned, qtext(taken.schedule));
    });
}

void Pages::startPareto() {
    const PlannedScenario& planned = ask(JobKind::machines);
    std::vector<MachineWay> ways;
    try {
        ways = ways_to_try(planned, pareto_->triesAll());
    } catch (const InputError&) {
        // The session says what is wrong with the scenario.
    }
    pareto_->start(static_cast<int>(ways.size()));
    session_.tryMachines(planned, ways);
}

void Pages::showMachines() {
    setCurrentWidget(pareto_);
    startPareto();
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
    connect(validation_page_, &ValidationPage::filesChosen, this,
            [this](const QStringList& files) { session_.validate(ask(JobKind::validate), files); });
    connect(&session_, &PlannerSession::validated, this,
            [this](const std::shared_ptr<const Validation>& validation) {
                validation_ = validation;
                validation_page_->setValidation(validation);
                answered(JobKind::validate);
            });
    connect(validation_page_, &ValidationPage::runActivated, this, [this](int run) {
        PlannedScenario planned = stack_.current();
        planned.machine = of(JobKind::validate).shown()->machine;  // may be another page by now
        of(JobKind::overlay).ask(planned);
        showRun(validation_->runs[static_cast<std::size_t>(run)]);
    });
}

}  // namespace sluice

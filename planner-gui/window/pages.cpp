#include "planner-gui/window/pages.h"

#include <QFileDialog>

#include "planner-gui/pages/compare_page.h"
#include "planner-gui/pages/explore_page.h"
#include "planner-gui/pages/memory_page.h"
#include "planner-gui/pages/pareto_page.h"
#include "planner-gui/pages/sensitivity_page.h"
#include "planner-gui/pages/systems_part.h"
#include "planner-gui/pages/timeline_page.h"
#include "planner-gui/pages/validation_page.h"
#include "planner-gui/window/page_values.h"
#include "planner-gui/window/side_by_side.h"
#include "sim/scenario/changed_scenario.h"

namespace sluice {
namespace {

QByteArray bytes(const QByteArray& text) { return text; }
QByteArray bytes(const std::string& text) { return QByteArray::fromStdString(text); }

}  // namespace

template <typename Page>
Page* Pages::add(const QString& title, const QString& name) {
    auto* const page = new Page(this);
    page->setObjectName(name);
    addTab(page, title);
    exports_.push_back(
        {name, [page] { return bytes(page->svg()); }, [page] { return page->csv(); }});
    return page;
}

Pages::Pages(ScenarioStack& stack, PlannerSession& session, QWidget* parent)
    : QTabWidget(parent), stack_(stack), session_(session) {
    setDocumentMode(true);
    timeline_ = add<TimelinePage>(tr("Timeline"), QStringLiteral("timeline"));
    memory_ = add<MemoryPage>(tr("Memory"), QStringLiteral("memory"));
    compare_ = add<ComparePage>(tr("Compare"), QStringLiteral("compare"));
    pareto_ = add<ParetoPage>(tr("Machines"), QStringLiteral("machines"));
    explore_ = add<ExplorePage>(tr("Explore"), QStringLiteral("explore"));
    sensitivity_ = add<SensitivityPage>(tr("Sensitivity"), QStringLiteral("sensitivity"));
    validation_page_ = add<ValidationPage>(tr("Validation"), QStringLiteral("validation"));
    side_by_side_ = new SideBySide(stack, session, *compare_);
    connectTimeline();
    connectCompare();
    connectExplore();
    connectPareto();
    connectSensitivity();
    connectValidation();
    connectFailures();
    connect(this, &QTabWidget::currentChanged, this, &Pages::showScenarios);
    connect(&stack_, &ScenarioStack::currentChanged, this, &Pages::showOutdated);
}

void Pages::setPrediction(const std::shared_ptr<const Prediction>& prediction) {
    const bool another = prediction != nullptr &&
                         (prediction_ == nullptr || prediction_->files != prediction->files ||
                          !ask_the_same(prediction_->planned, prediction->planned));
    prediction_ = prediction;
    if (prediction == nullptr || overlaid_.shown() == nullptr ||
        overlaid_.is_outdated(prediction->planned, prediction->files)) {
        overlaid_ = {};
        timeline_->setScenario(shared_report(prediction));
    }
    memory_->setReport(shared_report(prediction));
    if (prediction == nullptr) return;
    side_by_side_->add(prediction);
    const StepReport& report = prediction->report();
    if (another)
        explore_->setScenario(prediction->scenario.training, prediction->scenario.profile,
                              tr("%1 on %2")
                                  .arg(QString::fromStdString(report.model_name),
                                       QString::fromStdString(report.machine_id)));
    showScenarios();
}

void Pages::setByteUnits(ByteUnits units) {
    timeline_->setByteUnits(units);
    memory_->setByteUnits(units);
    compare_->setByteUnits(units);
    explore_->setByteUnits(units);
    pareto_->setByteUnits(units);
    validation_page_->setByteUnits(units);
}

QByteArray Pages::svg() const { return exports_[static_cast<std::size_t>(currentIndex())].svg(); }

QString Pages::csv() const { return exports_[static_cast<std::size_t>(currentIndex())].csv(); }

QString Pages::name() const { return exports_[static_cast<std::size_t>(currentIndex())].name; }

void Pages::connectTimeline() {
    connect(timeline_, &TimelinePage::measuredReportWanted, this, [this] {
        const QString file = QFileDialog::getOpenFileName(
            this, tr("Report of a measured run"), QString(), tr("Reports (*.json);;All files (*)"));
        if (file.isEmpty()) return;
        overlaid_.ask(stack_.current());
        session_.overlay(stack_.current(), file);
    });
    connect(timeline_, &TimelinePage::measuredTakenAway, this, [this] {
        overlaid_ = {};
        timeline_->setReport(shared_report(prediction_));
    });
    connect(&session_, &PlannerSession::overlaid, this,
            [this](const std::shared_ptr<const RunComparison>& run) { showRun(*run); });
}

void Pages::showRun(const RunComparison& run) {
    if (!run.measured) return;
    overlaid_.answer();
    timeline_->setReport(std::make_shared<const StepReport>(run.predicted));
    timeline_->setMeasured(std::make_shared<const StepReport>(*run.measured));
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
    connect(&compare_->systems(), &SystemsPart::adopt, this, &Pages::adoptFlags);
}

void Pages::showScenarios() { side_by_side_->show(); }

void Pages::showOutdated() {
    const PlannedScenario& now = stack_.current();
    const NamedFiles files = read_named_files(now);
    compare_->systems().setOutdated(compared_.is_outdated(now, files));
    pareto_->setOutdated(tried_.is_outdated(now, files) && !isTried(now, files));
    sensitivity_->setOutdated(improved_.is_outdated(now, files));
    validation_page_->setOutdated(validated_.is_of_another_machine(now, files));
    if (explored_.shown() == nullptr || explore_->map().columns() == 0) return;
    // What the axes vary may differ.
    const std::vector<VariedValue> cell = explore_->map().settings({0, 0});
    explore_->setOutdated(
        explored_.has_other_files(files) ||
        !ask_the_same(with_values(*explored_.shown(), cell), with_values(now, cell)));
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
    connect(explore_, &ExplorePage::adopted, this,
            [this](const std::vector<VariedValue>& settings) {
                if (explored_.shown() == nullptr) return;
                PlannedScenario cell = with_values(*explored_.shown(), settings);
                cell.name = stack_.current().name;
                cell.notes = stack_.current().notes;
                Q_EMIT adopted(cell, tr("cell of the map"));
            });
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
                tried_.answer();
                showOutdated();
            });
    connect(pareto_, &ParetoPage::adopted, this, &Pages::adoptMachine);
}

void Pages::startPareto() {
    std::vector<std::string> systems;
    for (const Schedule schedule : all_schedules()) systems.push_back(schedule_name(schedule));
    const std::vector<std::string> machines = machines_to_try(stack_.current());
    tried_.ask(stack_.current());
    host_memory_ = prediction_ == nullptr ? 0 : prediction_->scenario.machine.host.memory_capacity;
    pareto_->start(static_cast<int>(machines.size() * systems.size()));
    session_.tryMachines(stack_.current(), machines, systems);
}

bool Pages::isTried(const PlannedScenario& now, const NamedFiles& files) const {
    if (tried_.has_other_files(files)) return false;
    const std::vector<std::string> machines = machines_to_try(*tried_.shown());
    const std::string& machine = now.machine.machine;
    if (std::find(machines.begin(), machines.end(), machine) == machines.end()) return false;
    const auto typed = now.training.find("schedule");
    const std::string system =
        typed == now.training.end() ? schedule_name(TrainingSpec().schedule) : typed->second;
    return ask_the_same(on_machine(*tried_.shown(), machine, system, host_memory_),
                        on_machine(now, machine, system, host_memory_));
}

void Pages::adoptMachine(const QString& machine, const QString& system) {
    // As it was tried, so that its numbers are the verdict's.
    const PlannedScenario& now = stack_.current();
    PlannedScenario row = on_machine(tried_.shown() == nullptr ? now : *tried_.shown(),
                                     machine.toStdString(), system.toStdString(), host_memory_);
    row.name = now.name;
    row.notes = now.notes;
    Q_EMIT adopted(row, tr("machine and system"));
}

void Pages::adoptFlags(const QString& flags, const QString& what) {
    PlannedScenario planned = with_flags(stack_.current(), flags.toStdString());
    // Another system takes those of the settings that it has.
    if (const auto system = planned.training.find("schedule"); system != planned.training.end())
        planned = on_machine(planned, planned.machine.machine, std::string(system->second), 0);
    Q_EMIT adopted(planned, what);
}

void Pages::adoptUpgrade(const QString& flags, const QString& what) {
    const PlannedScenario& now = stack_.current();
    const PlannedScenario* const of = improved_.shown();
    if (of == nullptr || of->machine.machine == now.machine.machine) return adoptFlags(flags, what);
    // Its numbers are of that machine.
    PlannedScenario planned = with_flags(*of, flags.toStdString());
    planned.name = now.name;
    planned.notes = now.notes;
    Q_EMIT adopted(planned, what);
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

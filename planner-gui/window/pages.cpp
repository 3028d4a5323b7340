#include "planner-gui/window/pages.h"

#include <QTabBar>
#include <algorithm>

#include "planner-gui/pages/bars_page.h"
#include "planner-gui/pages/compare_page.h"
#include "planner-gui/pages/explore_page.h"
#include "planner-gui/pages/homes_page.h"
#include "planner-gui/pages/money_page.h"
#include "planner-gui/pages/pareto_page.h"
#include "planner-gui/pages/prediction_page.h"
#include "planner-gui/pages/timeline_page.h"
#include "planner-gui/pages/validation_page.h"
#include "planner-gui/pictures/memory_stack.h"
#include "planner-gui/window/side_by_side.h"
#include "sim/report/answers/findings.h"
#include "sim/specs/scenario/changed_scenario.h"

namespace sluice {
namespace {

constexpr int kLeastLines = 14;  // least height of a page: its sentences and part of its picture

}  // namespace

template <typename Kind>
Kind* Pages::add(Kind* page, const QString& title, const QString& name) {
    page->setObjectName(name);
    addTab(page, title);
    return page;
}

Page& Pages::page(int index) const { return *static_cast<Page*>(widget(index)); }

Pages::Pages(ScenarioStack& stack, PlannerSession& session, QWidget* parent)
    : QTabWidget(parent), stack_(stack), session_(session) {
    setDocumentMode(true);
    timeline_ = add(new TimelinePage, tr("Timeline"), QStringLiteral("timeline"));
    memory_ =
        add(new PredictionPage({tr("Memory of device and host"), memory_picture, memory_table}),
            tr("Memory"), QStringLiteral("memory"));
    homes_ = add(new HomesPage, tr("Homes"), QStringLiteral("homes"));
    money_ = add(new MoneyPage, tr("Money"), QStringLiteral("money"));
    compare_ = add(new ComparePage, tr("Compare"), QStringLiteral("compare"));
    pareto_ = add(new ParetoPage, tr("Machines"), QStringLiteral("machines"));
    explore_ = add(new ExplorePage, tr("Explore"), QStringLiteral("explore"));
    sensitivity_ = add(sensitivity_page(), tr("Sensitivity"), QStringLiteral("sensitivity"));
    validation_page_ = add(new ValidationPage, tr("Validation"), QStringLiteral("validation"));
    side_by_side_ = new SideBySide(stack, session, *compare_);
    connectSteps();
    connect(homes_, &HomesPage::moved, this, &Pages::entered);
    connectBars();
    connectExplore();
    connectPareto();
    connectValidation();
    connect(&session_, &PlannerSession::finished, this, [this](JobKind kind) {
        if (AnswerPage* const page = answering(kind)) page->setBusy(false);
    });
    connect(&session_, &PlannerSession::failed, this, &Pages::fail);
    connect(this, &QTabWidget::currentChanged, this, &Pages::showScenarios);
    connect(&stack_, &ScenarioStack::currentChanged, this, &Pages::showOutdated);
}

void Pages::setPrediction(const std::shared_ptr<const ScenarioAnswer>& prediction) {
    const bool another = prediction != nullptr &&
                         (prediction_ == nullptr || prediction_->files != prediction->files ||
                          !ask_the_same(prediction_->planned, prediction->planned));
    prediction_ = prediction;
    showStep(another);
    for (PredictionPage* const page : findChildren<PredictionPage*>())
        page->setReport(shared_report(prediction));
    homes_->setPrediction(prediction);
    money_->setPrediction(prediction);
    if (prediction == nullptr) return;
    const Prediction& report = prediction->report();
    if (another)
        explore_->setScenario(
            prediction->scenario.training, prediction->scenario.profile,
            tr("%1 on %2")
                .arg(qtext(report.asked.model_name), qtext(report.asked.gpus_and_machine())));
}

void Pages::showStep(bool of_another) {
    AnsweredScenario& overlaid = of(JobKind::overlay);
    const bool had_measured = overlaid.shown() != nullptr;
    if (prediction_ != nullptr && had_measured &&
        !overlaid.is_outdated(prediction_->planned, prediction_->files))
        return;  // shows a measured step below the prediction for its own settings
    overlaid.take_away();
    if (of_another || had_measured || prediction_ == nullptr)
        timeline_->setScenario(shared_report(prediction_));
    else
        timeline_->setReport(shared_report(prediction_));
}

void Pages::setByteUnits(ByteUnits units) {
    for (int i = 0; i < count(); ++i) page(i).setByteUnits(units);
}

QSize Pages::minimumSizeHint() const {
    const int least = tabBar()->sizeHint().height() + kLeastLines * fontMetrics().lineSpacing();
    return QTabWidget::minimumSizeHint().expandedTo(QSize(0, least));
}

QByteArray Pages::svg() const { return page(currentIndex()).svg(); }

QString Pages::csv() const { return page(currentIndex()).csv(); }

QString Pages::name() const { return page(currentIndex()).objectName(); }

void Pages::showScenarios() { side_by_side_->show(); }

void Pages::showOutdated() {
    const PlannedScenario& now = stack_.current();
    const NamedFiles files = read_named_files(now);
    const auto is_outdated = [&](JobKind kind) { return of(kind).is_outdated(now, files); };
    compare_->systems().setOutdated(is_outdated(JobKind::compare));
    pareto_->setOutdated(is_outdated(JobKind::machines) && !isTried(now, files));
    sensitivity_->setOutdated(is_outdated(JobKind::sensitivity));
    validation_page_->setOutdated(of(JobKind::validate).is_of_another_machine(now, files));
    const AnsweredScenario& explored = of(JobKind::explore);
    if (explored.shown() == nullptr || explore_->map().columns() == 0) return;
    // Options that the axes vary may differ, and so may those chosen for each cell.
    const HeatMap& map = explore_->map();
    const std::vector<Setting> cell = settings_of(map.values({0, 0}));
    const auto in_cell = [&](const PlannedScenario& planned) {
        return at_point(planned, cell, map.point_settings());
    };
    explore_->setOutdated(explored.has_other_files(files) ||
                          !ask_the_same(in_cell(*explored.shown()), in_cell(now)));
}

bool Pages::isTried(const PlannedScenario& now, const NamedFiles& files) {
    if (of(JobKind::machines).has_other_files(files)) return false;
    const auto typed = now.training.find("schedule");
    const std::string system = typed == now.training.end() ? Schedule()->name : typed->second;
    const PlannedScenario spelled_out = on_machine(now, now.machine.machine, system);
    return std::ranges::any_of(pareto_->rows(), [&](const MachineSystem& row) {
        return ask_the_same(row.value.planned, spelled_out);
    });
}

void Pages::adopt(PlannedScenario planned, const QString& what) {
    planned.name = automatic_name(planned);
    if (!what.isEmpty()) planned.name += ", " + what.toStdString();
    planned.notes.clear();
    Q_EMIT adopted(planned);
}

void Pages::adoptSystem(const ComparedSystem& system) {
    PlannedScenario planned = with_settings(*of(JobKind::compare).shown(), system_settings(system));
    // Another system takes the settings that it has.
    adopt(on_machine(planned, planned.machine.machine, planned.training["schedule"]),
          qtext(system.name));
}

void Pages::adoptUpgrade(const Upgrade& upgrade) {
    const PlannedScenario& shown = *of(JobKind::sensitivity).shown();
    // Its numbers are for that machine; settings that were typed later stay.
    const bool of_another = shown.machine.machine != stack_.current().machine.machine;
    const PlannedScenario& base = of_another ? shown : stack_.current();
    adopt(with_settings(with_settings(base, upgrade.machine_settings), upgrade.settings),
          qtext(upgrade.name));
}

}  // namespace sluice

#include "planner-gui/window/pages.h"

#include <QTabBar>
#include <algorithm>

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
#include "sim/specs/scenario/changed_scenario.h"

namespace sluice {
namespace {

constexpr int kLeastLines = 14;  // of a page: its sentences and some of its picture

}  // namespace

template <typename Page>
Page* Pages::add(const QString& title, const QString& name) {
    auto* const page = new Page(this);
    page->setObjectName(name);
    addTab(page, title);
    exports_.push_back({name, [page] { return page->svg(); }, [page] { return page->csv(); }});
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

void Pages::setPrediction(const std::shared_ptr<const ScenarioAnswer>& prediction) {
    const bool another = prediction != nullptr &&
                         (prediction_ == nullptr || prediction_->files != prediction->files ||
                          !ask_the_same(prediction_->planned, prediction->planned));
    prediction_ = prediction;
    showStep(another);
    memory_->setReport(shared_report(prediction));
    if (prediction == nullptr) return;
    side_by_side_->add(prediction);
    const Prediction& report = prediction->report();
    if (another)
        explore_->setScenario(prediction->scenario.training, prediction->scenario.profile,
                              tr("%1 on %2")
                                  .arg(QString::fromStdString(report.asked.model_name),
                                       QString::fromStdString(report.asked.machine_id)));
    showScenarios();
}

void Pages::showStep(bool of_another) {
    if (prediction_ != nullptr && overlaid_.shown() != nullptr &&
        !overlaid_.is_outdated(prediction_->planned, prediction_->files))
        return;  // a measured step is laid under the prediction for its own settings
    const bool had_measured = overlaid_.shown() != nullptr;
    overlaid_.take_away();
    if (of_another || had_measured || prediction_ == nullptr)
        timeline_->setScenario(shared_report(prediction_));
    else
        timeline_->setReport(shared_report(prediction_));
}

void Pages::setByteUnits(ByteUnits units) {
    timeline_->setByteUnits(units);
    memory_->setByteUnits(units);
    compare_->setByteUnits(units);
    explore_->setByteUnits(units);
    pareto_->setByteUnits(units);
    validation_page_->setByteUnits(units);
}

QSize Pages::minimumSizeHint() const {
    const int least = tabBar()->sizeHint().height() + kLeastLines * fontMetrics().lineSpacing();
    return QTabWidget::minimumSizeHint().expandedTo(QSize(0, least));
}

QByteArray Pages::svg() const { return exports_[static_cast<std::size_t>(currentIndex())].svg(); }

QString Pages::csv() const { return exports_[static_cast<std::size_t>(currentIndex())].csv(); }

QString Pages::name() const { return exports_[static_cast<std::size_t>(currentIndex())].name; }

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

bool Pages::isTried(const PlannedScenario& now, const NamedFiles& files) const {
    if (tried_.has_other_files(files)) return false;
    const auto typed = now.training.find("schedule");
    const std::string system = typed == now.training.end() ? Schedule()->name : typed->second;
    const PlannedScenario spelled_out = on_machine(now, now.machine.machine, system, 0);
    return std::ranges::any_of(tried_rows_, [&](const auto& row) {
        return ask_the_same(row->value.planned, spelled_out);
    });
}

}  // namespace sluice

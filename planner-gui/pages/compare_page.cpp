#include "planner-gui/pages/compare_page.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTabWidget>
#include <QVBoxLayout>

#include "planner-gui/models/system_table.h"
#include "planner-gui/models/table_csv.h"
#include "planner-gui/pages/adoption_foot.h"
#include "planner-gui/pages/bar_chart_view.h"
#include "planner-gui/pages/outdated_note.h"
#include "planner-gui/pages/page_parts.h"
#include "sim/compare/comparison_report.h"

namespace sluice {
namespace {

/// More columns than this get a fixed width and scroll.
constexpr int kFewScenarios = 4;

/// Of the page's height that bars take at most.
constexpr double kMostBars = 0.45;
constexpr int kMostSentences = 5;

}  // namespace

ComparePage::ComparePage(QWidget* parent)
    : QWidget(parent),
      scenario_model_(new ScenarioTableModel(this)),
      differences_(new QSortFilterProxyModel(this)),
      system_model_(new CellTableModel(this)),
      parts_(new QTabWidget) {
    setAccessibleName(tr("Compare"));
    differences_->setSourceModel(scenario_model_);
    differences_->setFilterRole(ScenarioTableModel::kDiffersRole);
    parts_->setDocumentMode(true);
    parts_->addTab(scenariosPart(), tr("S&cenarios"));
    parts_->addTab(systemsPart(), tr("S&ystems"));
    auto* const layout = new QVBoxLayout(this);
    layout->addWidget(parts_);
    showScenarios();
    showSystems();
}

QWidget* ComparePage::scenariosPart() {
    scenario_words_ = text_label(tr("What differs"));
    scenario_note_ = text_label(tr("How to read the bars"));
    only_differences_ = new QCheckBox(tr("Only &differences"));
    only_differences_->setToolTip(tr("Hide the rows in which all scenarios agree"));
    connect(only_differences_, &QCheckBox::toggled, this, &ComparePage::showScenarios);
    scenario_table_ = table_view(differences_, tr("Scenarios side by side"), false);
    scenario_table_->setSelectionBehavior(QAbstractItemView::SelectItems);
    scenario_table_->verticalHeader()->show();
    // As the cells are; a name that is too long is cut at its end.
    scenario_table_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    scenario_table_->horizontalHeader()->setTextElideMode(Qt::ElideRight);
    scenario_table_->setAlternatingRowColors(false);
    scenario_table_->setWordWrap(true);
    scenario_bars_ = new BarChartView(tr("Tokens per second of each scenario"));
    connect(scenario_bars_, &BarChartView::activated, this, &ComparePage::scenarioActivated);
    connect(scenario_table_->horizontalHeader(), &QHeaderView::sectionDoubleClicked, this,
            &ComparePage::scenarioActivated);

    auto* const part = new QWidget;
    auto* const layout = new QVBoxLayout(part);
    auto* const row = new QHBoxLayout;
    row->addWidget(scenario_words_, 1);
    row->addWidget(only_differences_);
    layout->addLayout(row);
    layout->addWidget(scenario_table_, 1);
    layout->addWidget(scenario_area_ = scrolled(scenario_bars_));
    layout->addWidget(scenario_note_);
    return part;
}

QWidget* ComparePage::systemsPart() {
    system_words_ = text_label(tr("What the comparison says"));
    system_title_ = text_label(tr("What is compared"));
    system_note_ = text_label(tr("How to read the bars"));
    compare_ = new QPushButton(tr("Compare &systems"));
    compare_->setToolTip(
        tr("Predict this model on this machine with every system, with the same batch"));
    connect(compare_, &QPushButton::clicked, this, &ComparePage::compareRequested);
    system_bars_ = new BarChartView(tr("Tokens per second of each system"));
    connect(system_bars_, &BarChartView::activated, this, &ComparePage::adoptSystem);
    system_table_ = table_view(system_model_, tr("Systems"));
    connect(system_table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& now) { system_bars_->setSelected(now.row()); });
    connect(system_bars_, &BarChartView::selectionChanged, this, &ComparePage::showSystem);
    connect(system_table_, &QTableView::activated, this,
            [this](const QModelIndex& index) { adoptSystem(index.row()); });
    foot_ = new AdoptionFoot(tr("Selected system"),
                             tr("Makes this system the scenario's (Enter, double click)"), 2);
    connect(foot_, &AdoptionFoot::adopted, this, [this] { adoptSystem(system_bars_->selected()); });

    auto* const part = new QWidget;
    auto* const layout = new QVBoxLayout(part);
    auto* const row = new QHBoxLayout;
    row->addWidget(system_words_, 1);
    row->addWidget(compare_, 0, Qt::AlignTop);
    layout->addLayout(row);
    system_area_ = scrolled(system_bars_);
    outdated_ =
        new OutdatedNote(tr("The scenario has changed since these systems were compared."),
                         {system_words_, system_title_, system_area_, system_note_, system_table_});
    connect(outdated_, &OutdatedNote::runAgain, this, &ComparePage::compareRequested);
    layout->addWidget(outdated_);
    layout->addWidget(system_title_);
    layout->addWidget(system_area_);
    layout->addWidget(system_note_);
    layout->addWidget(system_table_, 1);
    layout->addWidget(foot_);
    return part;
}

void ComparePage::setScenarios(std::vector<ComparedScenario> scenarios) {
    scenarios_ = std::move(scenarios);
    scenario_model_->setScenarios(scenarios_);
    showScenarios();
}

void ComparePage::setComparison(std::shared_ptr<const Comparison> comparison) {
    comparison_ = std::move(comparison);
    setOutdated(false);
    showSystems();
}

void ComparePage::setOutdated(bool outdated) {
    outdated_->setOutdated(outdated && comparison_ != nullptr);
}

void ComparePage::setBusy(bool busy) {
    compare_->setEnabled(!busy);
    compare_->setText(busy ? tr("Comparing ...") : tr("Compare &systems"));
}

void ComparePage::setByteUnits(ByteUnits units) {
    units_ = units;
    scenario_model_->setByteUnits(units);
    showScenarios();
    showSystems();
}

void ComparePage::setOnlyDifferences(bool only) { only_differences_->setChecked(only); }

void ComparePage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    fitRows();
}

void ComparePage::fitRows() {
    // Once the columns have their widths.
    QMetaObject::invokeMethod(scenario_table_, &QTableView::resizeRowsToContents,
                              Qt::QueuedConnection);
}

void ComparePage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fitRows();
    fitHeights();
}

void ComparePage::fitHeights() {
    fit_height(scenario_area_, kMostBars * height());
    fit_height(system_area_, kMostBars * height());
}

void ComparePage::showScenarios() {
    const bool several = scenarios_.size() > 1;
    differences_->setFilterFixedString(
        only_differences_->isChecked() && several ? QStringLiteral("true") : QString());
    int differing = 0;
    for (int row = 0; row < scenario_model_->rowCount(); ++row)
        differing +=
            scenario_model_->headerData(row, Qt::Vertical, ScenarioTableModel::kDiffersRole)
                .toBool();
    scenario_words_->setText(
        scenarios_.empty() ? tr("No scenario yet: every open one is a column here.")
        : several          ? tr("%1 scenarios, %2 of %3 rows differ (bold, on yellow).")
                        .arg(scenarios_.size())
                        .arg(differing)
                        .arg(scenario_model_->rowCount())
                  : tr("One scenario: duplicate it and change something to compare."));
    only_differences_->setEnabled(several);
    const bool few = scenarios_.size() <= kFewScenarios;
    QHeaderView* const header = scenario_table_->horizontalHeader();
    header->setSectionResizeMode(few ? QHeaderView::Stretch : QHeaderView::Interactive);
    if (!few) header->setDefaultSectionSize(18 * fontMetrics().height());
    fitRows();
    BarChart chart = bar_chart_of(scenario_bars(scenarios_));
    scenario_note_->setText(scenarios_.empty() ? QString()
                                               : chart.title + QStringLiteral(". ") + chart.note);
    scenario_bars_->setChart(std::move(chart));
    fitHeights();
}

void ComparePage::showSystems() {
    system_bars_->setSelected(-1);
    if (!comparison_) {
        system_words_->setText(tr(
            "How fast are other systems with this model on this machine? Compare systems predicts "
            "each with the same batch."));
        for (QLabel* const label : {system_title_, system_note_}) label->clear();
        system_model_->setTable({});
        system_bars_->setChart({});
        fitHeights();
        return;
    }
    show_sentences(system_words_, comparison_sentences(*comparison_), kMostSentences);
    const SpeedBars bars = comparison_bars({comparison_.get(), 1});
    BarChart chart = bar_chart_of(bars);
    system_title_->setText(QString::fromStdString(bars.title) + QStringLiteral(": ") + chart.title);
    system_note_->setText(chart.note);
    system_bars_->setChart(std::move(chart));
    system_model_->setTable(system_table(*comparison_, units_));
    fitHeights();
}

void ComparePage::showSystem(int at) {
    if (!comparison_ || at < 0) return foot_->show_selected({}, false);
    system_table_->selectRow(at);
    const ComparedSystem& system = comparison_->systems[static_cast<std::size_t>(at)];
    const Bar& bar = system_bars_->chart().bars[static_cast<std::size_t>(at)];
    foot_->show_selected(
        bar.tooltip + (bar.misfit.isEmpty() ? QString() : QLatin1Char('\n') + bar.misfit),
        system.report.training.schedule != Schedule::cluster);
}

void ComparePage::adoptSystem(int at) {
    if (!comparison_ || at < 0) return;
    const ComparedSystem& system = comparison_->systems[static_cast<std::size_t>(at)];
    const Schedule schedule = system.report.training.schedule;
    if (schedule == Schedule::cluster) return;
    Q_EMIT adopt(QStringLiteral("--schedule ") + QString::fromStdString(schedule_name(schedule)),
                 QString::fromStdString(system.name));
}

QByteArray ComparePage::svg() const {
    if (parts_->currentIndex() == 0)
        return scenarios_.empty()
                   ? QByteArray()
                   : QByteArray::fromStdString(speed_bars_svg(scenario_bars(scenarios_)));
    return comparison_ ? QByteArray::fromStdString(comparison_svg({comparison_.get(), 1}))
                       : QByteArray();
}

QString ComparePage::csv() const {
    if (parts_->currentIndex() == 0)
        return scenarios_.empty() ? QString() : table_csv(*scenario_model_, true);
    return comparison_ ? QString::fromStdString(comparison_csv({comparison_.get(), 1})) : QString();
}

}  // namespace sluice

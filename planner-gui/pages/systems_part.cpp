#include "planner-gui/pages/systems_part.h"

#include <QPushButton>
#include <QVBoxLayout>

#include "planner-gui/models/system_table.h"
#include "planner-gui/pages/adoption_foot.h"
#include "planner-gui/pages/answer_stack.h"
#include "planner-gui/pages/bar_chart_view.h"
#include "planner-gui/pages/failure_label.h"
#include "planner-gui/pages/fitted_table.h"
#include "planner-gui/pages/outdated_note.h"
#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pictures/memory_stack.h"
#include "sim/compare/comparison_report.h"

namespace sluice {
namespace {

constexpr int kMostSentences = 3;

}  // namespace

SystemsPart::SystemsPart(QWidget* parent)
    : QWidget(parent),
      model_(new CellTableModel(this)),
      bars_(new BarChartView(tr("Tokens per second of each system"))),
      table_(table_view(model_, tr("Systems"))),
      words_(text_label(tr("What the comparison says"))),
      title_(text_label(tr("What is compared"))),
      note_(text_label(tr("How to read the bars"))),
      compare_(new QPushButton(tr("Compare &systems"))),
      failure_(new FailureLabel(this)),
      foot_(new AdoptionFoot(tr("Selected system"),
                             tr("Makes this system the scenario's (Enter, double click)"), 2)) {
    compare_->setToolTip(
        tr("Predict this model on this machine with every system, with the same batch"));
    auto* const answer = new QWidget;
    auto* const column = new QVBoxLayout(answer);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(title_);
    column->addWidget(new FittedArea(bars_));
    column->addWidget(note_);
    column->addWidget(table_, kAlmostAll);
    column->addWidget(foot_);
    column->addStretch(1);
    stack_ = new AnswerStack(answer, tr("How fast are other systems?"),
                             tr("Compare systems predicts this model on this machine with every "
                                "system, with the same batch."));
    outdated_ = new OutdatedNote(tr("The scenario has changed since these systems were compared."),
                                 {words_, stack_});
    auto* const layout = new QVBoxLayout(this);
    auto* const row = new QHBoxLayout;
    row->addWidget(words_, 1);
    row->addWidget(compare_, 0, Qt::AlignTop | Qt::AlignRight);
    layout->addLayout(row);
    layout->addWidget(failure_);
    layout->addWidget(outdated_);
    layout->addWidget(stack_, 1);
    connectParts();
    showComparison();
}

void SystemsPart::connectParts() {
    connect(compare_, &QPushButton::clicked, this, &SystemsPart::compareRequested);
    connect(outdated_, &OutdatedNote::runAgain, this, &SystemsPart::compareRequested);
    connect(bars_, &BarChartView::activated, this, &SystemsPart::adoptSystem);
    connect(bars_, &BarChartView::selectionChanged, this, &SystemsPart::showSelected);
    connect(table_, &QTableView::activated, this,
            [this](const QModelIndex& index) { adoptSystem(index.row()); });
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& now) { bars_->setSelected(now.row()); });
    connect(foot_, &AdoptionFoot::adopted, this, [this] { adoptSystem(bars_->selected()); });
}

void SystemsPart::setComparison(std::shared_ptr<const Comparison> comparison) {
    comparison_ = std::move(comparison);
    setOutdated(false);
    showComparison();
}

void SystemsPart::setBusy(bool busy) {
    compare_->setEnabled(!busy);
    compare_->setText(busy ? tr("Comparing ...") : tr("Compare &systems"));
    if (busy) failure_->forget();
}

void SystemsPart::fail(const QString& sentence) {
    setBusy(false);
    failure_->say(sentence, comparison_ != nullptr);
}

void SystemsPart::setOutdated(bool outdated) {
    outdated_->setOutdated(outdated && comparison_ != nullptr);
}

void SystemsPart::setByteUnits(ByteUnits units) {
    units_ = units;
    showComparison();
}

void SystemsPart::showComparison() {
    bars_->setSelected(-1);
    stack_->show_answer(comparison_ != nullptr);
    words_->setVisible(comparison_ != nullptr);
    if (!comparison_) return;
    show_sentences(words_, comparison_sentences(*comparison_), kMostSentences);
    SpeedBars bars = comparison_bars({comparison_.get(), 1});
    for (SpeedBarGroup& group : bars.groups)
        for (std::size_t i = 0; i < group.bars.size(); ++i)
            group.bars[i].misfit = short_text(comparison_->systems[i].report, units_).toStdString();
    BarChart chart = bar_chart_of(bars);
    title_->setText(QString::fromStdString(bars.title) + QStringLiteral(": ") + chart.title);
    note_->setText(chart.note);
    bars_->setChart(std::move(chart));
    model_->setTable(system_table(*comparison_, units_));
}

void SystemsPart::showSelected(int at) {
    if (!comparison_ || at < 0) return foot_->show_selected({}, false);
    table_->selectRow(at);
    const ComparedSystem& system = comparison_->systems[static_cast<std::size_t>(at)];
    foot_->show_selected(system_sentence(*comparison_, system),
                         system.report.training.schedule != Schedule::cluster);
}

void SystemsPart::adoptSystem(int at) {
    if (!comparison_ || at < 0) return;
    const ComparedSystem& system = comparison_->systems[static_cast<std::size_t>(at)];
    const Schedule schedule = system.report.training.schedule;
    if (schedule == Schedule::cluster) return;
    Q_EMIT adopt(QStringLiteral("--schedule ") + QString::fromStdString(schedule_name(schedule)),
                 QString::fromStdString(system.name));
}

QByteArray SystemsPart::svg() const {
    return comparison_ ? QByteArray::fromStdString(comparison_svg({comparison_.get(), 1}))
                       : QByteArray();
}

QString SystemsPart::csv() const {
    return comparison_ ? QString::fromStdString(comparison_csv({comparison_.get(), 1})) : QString();
}

}  // namespace sluice

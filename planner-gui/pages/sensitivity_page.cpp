#include "planner-gui/pages/sensitivity_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include "planner-gui/models/sensitivity_table.h"
#include "planner-gui/pages/adoption_foot.h"
#include "planner-gui/pages/answer_stack.h"
#include "planner-gui/pages/bar_chart_view.h"
#include "planner-gui/pages/failure_label.h"
#include "planner-gui/pages/fitted_table.h"
#include "planner-gui/pages/outdated_note.h"
#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pictures/tornado.h"

namespace sluice {

SensitivityPage::SensitivityPage(QWidget* parent)
    : QWidget(parent),
      model_(new CellTableModel(this)),
      bars_(new BarChartView(tr("Gain of each change"))),
      table_(table_view(model_, tr("Changes of the machine"))),
      words_(text_label(tr("What limits, and what gains most"))),
      note_(text_label(tr("How to read the bars"))),
      try_(new QPushButton(tr("&Try changes"))),
      failure_(new FailureLabel(this)),
      foot_(new AdoptionFoot(
          tr("The change that is selected"),
          tr("Makes the change in the scenario's machine (Enter, double click); it can be undone"),
          2)) {
    setAccessibleName(tr("Sensitivity"));
    try_->setToolTip(
        tr("Predict this scenario with more device memory, a faster link, more cores, faster host "
           "memory and the next GPU"));
    connect(try_, &QPushButton::clicked, this, &SensitivityPage::sensitivityRequested);
    connect(foot_, &AdoptionFoot::adopted, this, [this] { adoptUpgrade(bars_->selected()); });
    connect(bars_, &BarChartView::activated, this, &SensitivityPage::adoptUpgrade);
    connect(table_, &QTableView::activated, this,
            [this](const QModelIndex& index) { adoptUpgrade(index.row()); });
    connect(bars_, &BarChartView::selectionChanged, this, &SensitivityPage::showSelected);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& now) { bars_->setSelected(now.row()); });

    auto* const answer = new QWidget;
    auto* const column = new QVBoxLayout(answer);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(new FittedArea(bars_));
    column->addWidget(note_);
    column->addWidget(table_, kAlmostAll);
    column->addWidget(foot_);
    column->addStretch(1);
    stack_ = new AnswerStack(answer, tr("What would gain most?"),
                             tr("Try changes predicts this scenario with more device memory, a "
                                "faster link, more cores, faster host memory and the next GPU."));
    outdated_ = new OutdatedNote(tr("The scenario has changed since these changes were tried."),
                                 {words_, stack_});
    connect(outdated_, &OutdatedNote::runAgain, this, &SensitivityPage::sensitivityRequested);
    auto* const top = new QHBoxLayout;
    top->addWidget(words_, 1);
    top->addWidget(try_, 0, Qt::AlignTop | Qt::AlignRight);
    auto* const layout = new QVBoxLayout(this);
    layout->addLayout(top);
    layout->addWidget(failure_);
    layout->addWidget(outdated_);
    layout->addWidget(stack_, 1);
    setSensitivity(nullptr);
}

void SensitivityPage::setSensitivity(std::shared_ptr<const Sensitivity> sensitivity) {
    sensitivity_ = std::move(sensitivity);
    setOutdated(false);
    bars_->setSelected(-1);
    stack_->show_answer(sensitivity_ != nullptr);
    words_->setVisible(sensitivity_ != nullptr);
    if (!sensitivity_) {
        bars_->setChart({});
        model_->setTable({});
        return;
    }
    QString words = sensitivity_sentence(*sensitivity_);
    for (const std::string& sentence : sensitivity_->not_possible)
        words += tr("\nNot tried: %1.").arg(QString::fromStdString(sentence));
    words_->setText(words);
    BarChart chart = tornado_chart(*sensitivity_);
    note_->setText(chart.title + QStringLiteral(". ") + chart.note +
                   tr(" A double click on a bar adopts the change."));
    bars_->setChart(std::move(chart));
    model_->setTable(sensitivity_table(*sensitivity_));
    showSelected(-1);
}

void SensitivityPage::setBusy(bool busy) {
    try_->setEnabled(!busy);
    try_->setText(busy ? tr("Trying ...") : tr("&Try changes"));
    if (busy) failure_->forget();
}

void SensitivityPage::fail(const QString& sentence) {
    setBusy(false);
    failure_->say(sentence, sensitivity_ != nullptr);
}

void SensitivityPage::setOutdated(bool outdated) {
    outdated_->setOutdated(outdated && sensitivity_ != nullptr);
}

void SensitivityPage::showSelected(int at) {
    if (!sensitivity_ || at < 0) return foot_->show_selected({}, false);
    const Upgrade& upgrade = sensitivity_->upgrades[static_cast<std::size_t>(at)];
    table_->selectRow(at);
    const bool possible = !upgrade.machine_settings.empty();
    foot_->show_selected(
        upgrade_sentence(upgrade) + QLatin1Char('.') +
            (possible ? QString()
                      : tr(" It cannot be adopted: no numbers of the machine's profile make this "
                           "change.")),
        possible);
}

void SensitivityPage::adoptUpgrade(int at) {
    if (!sensitivity_ || at < 0) return;
    const Upgrade& upgrade = sensitivity_->upgrades[static_cast<std::size_t>(at)];
    if (upgrade.machine_settings.empty()) return;
    QStringList flags;
    for (const std::string& setting : upgrade.machine_settings)
        flags << QStringLiteral("--set ") + QString::fromStdString(setting);
    if (!upgrade.settings.empty()) flags << QString::fromStdString(upgrade.settings);
    Q_EMIT adopt(flags.join(QLatin1Char(' ')), QString::fromStdString(upgrade.name));
}

QByteArray SensitivityPage::svg() const {
    return sensitivity_ ? QByteArray::fromStdString(sensitivity_svg(*sensitivity_)) : QByteArray();
}

QString SensitivityPage::csv() const {
    return sensitivity_ ? cell_table_csv(sensitivity_table(*sensitivity_)) : QString();
}

}  // namespace sluice

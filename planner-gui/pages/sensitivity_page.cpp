#include "planner-gui/pages/sensitivity_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include "planner-gui/models/sensitivity_table.h"
#include "planner-gui/pages/bar_chart_view.h"
#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pictures/tornado.h"

namespace sluice {
namespace {

/// Of the page's height that bars take at most.
constexpr double kMostBars = 0.5;

}  // namespace

SensitivityPage::SensitivityPage(QWidget* parent)
    : QWidget(parent),
      model_(new CellTableModel(this)),
      bars_(new BarChartView(tr("Gain of each change"))),
      area_(scrolled(bars_)),
      table_(table_view(model_, tr("Changes of the machine"))),
      words_(text_label(tr("What limits, and what gains most"))),
      note_(text_label(tr("How to read the bars"))),
      selected_(text_label(tr("The change that is selected"))),
      try_(new QPushButton(tr("&Try changes"))),
      adopt_(new QPushButton(tr("&Adopt"))) {
    setAccessibleName(tr("Sensitivity"));
    try_->setToolTip(
        tr("Predict this scenario with more device memory, a faster link, more cores, faster host "
           "memory and the next GPU"));
    adopt_->setToolTip(tr("Make the change in the scenario's machine; it can be undone"));
    connect(try_, &QPushButton::clicked, this, &SensitivityPage::sensitivityRequested);
    connect(adopt_, &QPushButton::clicked, this, [this] { adoptUpgrade(bars_->selected()); });
    connect(bars_, &BarChartView::activated, this, &SensitivityPage::adoptUpgrade);
    connect(table_, &QTableView::activated, this,
            [this](const QModelIndex& index) { adoptUpgrade(index.row()); });
    connect(bars_, &BarChartView::selectionChanged, this, &SensitivityPage::showSelected);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& now) { bars_->setSelected(now.row()); });

    auto* const top = new QHBoxLayout;
    top->addWidget(words_, 1);
    top->addWidget(try_, 0, Qt::AlignTop);
    auto* const below = new QHBoxLayout;
    below->addWidget(selected_, 1);
    below->addWidget(adopt_, 0, Qt::AlignTop);
    auto* const layout = new QVBoxLayout(this);
    layout->addLayout(top);
    layout->addWidget(area_);
    layout->addWidget(note_);
    layout->addWidget(table_, 1);
    layout->addLayout(below);
    setSensitivity(nullptr);
}

void SensitivityPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fit_height(area_, kMostBars * height());
}

void SensitivityPage::setSensitivity(std::shared_ptr<const Sensitivity> sensitivity) {
    sensitivity_ = std::move(sensitivity);
    bars_->setSelected(-1);
    if (!sensitivity_) {
        setMessage(tr("Not tried yet."));
        return;
    }
    QString words = sensitivity_sentence(*sensitivity_);
    for (const std::string& sentence : sensitivity_->not_possible)
        words += tr("\nNot tried: %1.").arg(QString::fromStdString(sentence));
    words_->setText(words);
    BarChart chart = tornado_chart(*sensitivity_);
    note_->setText(chart.title + QStringLiteral(". ") + chart.note +
                   tr(" A click on a bar adopts the change."));
    bars_->setChart(std::move(chart));
    fit_height(area_, kMostBars * height());
    model_->setTable(sensitivity_table(*sensitivity_));
    showSelected(-1);
}

void SensitivityPage::setMessage(const QString& sentence) {
    sensitivity_ = nullptr;
    words_->setText(sentence);
    note_->clear();
    bars_->setChart({});
    fit_height(area_, kMostBars * height());
    model_->setTable({});
    showSelected(-1);
}

void SensitivityPage::setBusy(bool busy) {
    try_->setEnabled(!busy);
    try_->setText(busy ? tr("Trying ...") : tr("&Try changes"));
}

void SensitivityPage::showSelected(int at) {
    adopt_->setEnabled(false);
    selected_->clear();
    if (!sensitivity_ || at < 0) return;
    const Upgrade& upgrade = sensitivity_->upgrades[static_cast<std::size_t>(at)];
    table_->selectRow(at);
    adopt_->setEnabled(!upgrade.machine_settings.empty());
    selected_->setText(
        upgrade_sentence(upgrade) + QStringLiteral(".") +
        (upgrade.machine_settings.empty()
             ? tr(" It cannot be adopted: no numbers of the machine's profile make this change.")
             : QString()));
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

#include "planner-gui/pages/pareto_page.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "planner-gui/pages/fitted_table.h"
#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pages/picture_table.h"
#include "planner-gui/pages/wrapping_row.h"

namespace sluice {
namespace {

constexpr std::size_t kRowsToFit =
    20;  // columns are fitted to these rows, then again after this many more

}  // namespace

ParetoPage::ParetoPage(QWidget* parent) : AnswerPage(parent) {
    setAccessibleName(tr("Machines"));
    parts_ = new PictureTable(
        PictureTable::Arrangement::above,
        {tr("Speed over cost"), tr("Machines and systems"), tr("Selected machine"),
         tr("Adopts this machine and system (Enter, double click)")},
        [this](int at) -> Described {
            if (at == kNoId) return {tr("Select a point or a row to see all of it."), false};
            const MachineSystem& row = rows_[static_cast<std::size_t>(at)];
            return {row_lines(row, units_).join(QStringLiteral("; ")), row.value.is_planned()};
        });
    chart()->setLeastLines(24, 10);
    parts_->setTable(pareto_table(rows_, axis_, units_), units_);
    parts_->table()->setSortingEnabled(true);
    parts_->table()->sortByColumn(parts_->model().columnOf("usd_per_hour"), Qt::AscendingOrder);
    cheapest_ = text_label(tr("Cheapest machine"));
    auto* const answer = new QWidget(this);
    auto* const column = new QVBoxLayout(answer);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(cheapest_);
    column->addWidget(parts_, 1);
    layOut(makeBar(), answer,
           {tr("Which machine is fast for its money?"),
            tr("Run predicts this model and batch on every machine that has a price, with every "
               "system: what each costs and how fast it is. Each machine has its own best "
               "settings. Clusters of 2 GPUs to eight nodes are tried, too."),
            tr("The scenario has changed since these machines were tried.")},
           {answer});
    connectParts();
    showRows();
}

QWidget* ParetoPage::makeBar() {
    auto* const bar = new QWidget(this);
    auto* const row = new WrappingRow;
    bar->setLayout(row);
    cost_ = new QComboBox(bar);
    for (const CostAxis axis : {CostAxis::usd_per_hour, CostAxis::usd_per_million_tokens})
        cost_->addItem(cost_name(axis), static_cast<int>(axis));
    cost_->setAccessibleName(tr("Cost that the picture shows"));
    auto* const label = new QLabel(tr("&Cost"), bar);
    label->setBuddy(cost_);
    QPushButton* const run = askButton(
        tr("&Run"), tr("S&top"),
        tr("Predicts the scenario's model and settings on each machine, with each system"), true);
    progress_ = new QLabel(bar);
    least_ = new QSpinBox(bar);
    least_->setRange(0, 1'000'000'000);
    least_->setGroupSeparatorShown(true);
    least_->setSpecialValueText(tr("any"));
    least_->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
    least_->setAccessibleName(tr("Least tokens/s"));
    least_->setToolTip(tr("Least speed: names the cheapest machine that reaches it"));
    auto* const at_least = new QLabel(tr("tokens/s, at &least"), bar);
    at_least->setBuddy(least_);
    all_ = new QCheckBox(tr("also without a price"), bar);
    all_->setToolTip(
        tr("Run also tries the machines that have no price: test machines and old "
           "ones"));
    for (QWidget* const widget :
         std::initializer_list<QWidget*>{label, cost_, at_least, least_, all_, run, progress_})
        row->addWidget(widget);
    return bar;
}

void ParetoPage::connectParts() {
    connect(cost_, &QComboBox::currentIndexChanged, this, [this] {
        axis_ = static_cast<CostAxis>(cost_->currentData().toInt());
        showRows();
    });
    connect(least_, &QSpinBox::valueChanged, this, &ParetoPage::showCheapest);
    connect(parts_, &PictureTable::adopted, this, &ParetoPage::adopted);
}

bool ParetoPage::triesAll() const { return all_->isChecked(); }

PictureView* ParetoPage::chart() const { return parts_->picture(); }

QByteArray ParetoPage::svg() const { return chart()->svg(); }

QString ParetoPage::csv() const {
    if (rows_.empty()) return {};
    return qtext(to_csv(pareto_table(rows_, axis_, ByteUnits::decimal)));
}

void ParetoPage::start(int rows) {
    expected_ = rows;
    left_.start();
    setBusy(true);
}

void ParetoPage::addRow(const MachineSystem& row) {
    if (isOfBefore()) rows_.clear();
    if (rows_.empty()) showAnswer(true);
    rows_.push_back(row);
    showRows();
    const std::size_t count = rows_.size();
    if (!isBusy() || count < kRowsToFit || count % kRowsToFit == 0) fit_columns(parts_->table());
}

void ParetoPage::showBusy() {
    if (!isBusy()) fit_columns(parts_->table());
    showProgress();
}

void ParetoPage::setByteUnits(ByteUnits units) {
    units_ = units;
    showRows();
}

void ParetoPage::showRows() {
    parts_->setPicture(
        [this](const PictureSpace& space) { return pareto_picture(rows_, axis_, units_, space); });
    parts_->setTable(pareto_table(rows_, axis_, units_), units_);
    showCheapest();
    showProgress();
}

void ParetoPage::showCheapest() { cheapest_->setText(cheapest_words(rows_, least_->value())); }

void ParetoPage::showProgress() {
    const auto plotted = std::ranges::count_if(rows_, &MachineSystem::is_plotted);
    if (rows_.empty() && !isBusy()) {
        progress_->clear();
    } else {
        const QString arrived =
            isOfBefore() ? tr("%1 of an earlier run").arg(rows_.size())
            : isBusy()   ? tr("%1 of %2 predicted%3")
                             .arg(rows_.size())
                             .arg(expected_)
                             .arg(left_.words(static_cast<int>(rows_.size()), expected_))
            : std::ssize(rows_) < expected_
                ? tr("%1 of %2 predicted, then stopped").arg(rows_.size()).arg(expected_)
                : tr("%1 predicted").arg(rows_.size());
        progress_->setText(tr("%1; %2 fit and have a price.").arg(arrived).arg(plotted));
    }
}

}  // namespace sluice
